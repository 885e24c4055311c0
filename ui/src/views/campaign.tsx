// A campaign: which cells are done, what they gave, and what matters; drawn anew while it goes on.

import { useEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { Campaign, Campaigns, Cell, Job } from '../contract.ts';
import { latency, significant } from '../figures.ts';
import { counts, figureLabel, figureNames, lacking, lacks, matrix, values } from '../matrix.ts';
import { Report } from '../parts/article.tsx';
import { useCampaigns } from '../parts/campaigns.ts';
import { Choice, chosenKey } from '../parts/choice.tsx';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';
import { go, withQuery } from '../route.ts';
import { token } from '../session.ts';
import { Downloads, Drawing } from './run.tsx';

interface Props {
  name: string;
  rows: string;
  columns: string;
  figure: string;
}

/** It is fetched at most so often: what stands below the matrix is a report of all that was measured. */
const PAUSE_MS = 1500;

export function CampaignView({ name, ...chosen }: Props) {
  const { now, lost } = useCampaigns();
  const known = useSettled(turnOf(now, name), PAUSE_MS);
  const { value, error } = useLoad(() => api.campaign(name), [name, known]);
  const job = now?.jobs.find(job => job.campaign === name) ?? null;
  useTitle(name);
  const below = (campaign: Campaign) => (
    <>
      <Course name={name} campaign={campaign} job={job} lost={lost} />
      {campaign.cells.length > 0 && <Cells campaign={campaign} chosen={chosen} />}
    </>
  );
  return (
    <section class="wide-view">
      {(value || !error) && (
        <nav class="tools" aria-label="This campaign">
          <Downloads runs={[`campaign:${name}`]} name={`fathom-${name}`} />
        </nav>
      )}
      <Failure error={error} />
      {!value && !error && <Drawing />}
      {value?.html === '' && (
        <>
          <h1>{name}</h1>
          <p class="answer">{value.answer}</p>
          {below(value)}
        </>
      )}
      {value && value.html !== '' && <Report article={value}>{below(value)}</Report>}
    </section>
  );
}

/** What changes when a run of a campaign has ended, or the campaign has. */
function turnOf(now: Campaigns | null, name: string): string {
  const row = now?.campaigns.find(row => row.name === name);
  const job = now?.jobs.find(job => job.campaign === name);
  return `${row?.runs} ${row?.runs_done} ${row?.lacking} ${job?.job} ${job?.state}`;
}

/** The value, at most one new one in each pause. */
function useSettled(value: string, pause: number): string {
  const [settled, set] = useState(value);
  const [until, wait] = useState(0);
  useEffect(() => {
    if (value === settled) return;
    const timer = setTimeout(
      () => {
        set(value);
        wait(performance.now() + pause);
      },
      Math.max(0, until - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [value, settled, until, pause]);
  return settled;
}

/** Whether it goes on, how far it is, and what can be done: stop it, or resume it. */
function Course({ name, campaign, job, lost }: { name: string; campaign: Campaign; job: Job | null; lost: boolean }) {
  const [error, setError] = useState<unknown>(null);
  const [stopping, setStopping] = useState('');
  const running = job?.state === 'running';
  const left = campaign.cells.filter(cell => cell.state !== 'done').length;
  if (!running && left === 0 && !(job && job.code !== 0)) return null;
  return (
    <>
      <div class="tools course">
        {running && token() !== null && (
          <button
            type="button"
            disabled={stopping === job.job}
            onClick={() => {
              setStopping(job.job);
              api.stop(job.job).catch(error => {
                setStopping('');
                setError(error);
              });
            }}
          >
            {stopping === job.job ? 'Stopping …' : 'Stop; keep what is measured'}
          </button>
        )}
        {!running && left > 0 && (
          <a class="first button" href={`/new-campaign?again=${encodeURIComponent(name)}`}>
            {campaign.cells.length === left ? 'Start' : 'Resume'}
          </a>
        )}
        <span role="status" class={running ? '' : 'faint'}>
          {running ? (job.says ?? 'It begins.') : job && job.code !== 0 ? ended(job) : ''}
        </span>
        {lost && <span class="limit">Connection lost; trying again. What was started continues.</span>}
      </div>
      <Failure error={error} />
    </>
  );
}

function ended(job: Job): string {
  const last = (job.stderr ?? '').trim().split('\n').pop() ?? '';
  if (job.code === 130) return 'Stopped; what was measured is kept.';
  return `Ended with exit code ${job.code}: ${last}`;
}

function Cells({ campaign, chosen }: { campaign: Campaign; chosen: Omit<Props, 'name'> }) {
  const factors = campaign.factors.map(factor => factor.name);
  const names = figureNames(campaign.cells);
  const rows = factors.includes(chosen.rows) ? chosen.rows : (factors[0] ?? '');
  const columns = chosenKey(chosen.columns, factors, rows) ?? factors.find(name => name !== rows) ?? '';
  const figure = names.includes(chosen.figure) ? chosen.figure : (names[0] ?? '');
  const table = matrix(campaign, rows, columns);
  const done = counts(campaign.cells);
  const notes = lacks(campaign.cells);
  const without = lacking(campaign.cells);
  const unit = campaign.cells.find(cell => cell.figures[figure])?.figures[figure]?.unit ?? '';
  const all = campaign.cells.flatMap(cell => values([cell], figure));
  const most = Math.max(0, ...all);
  const show = (change: Record<string, string>) =>
    go(withQuery({ rows, columns: columns || 'none', figure, ...change }), true);

  return (
    <>
      <h2>Cells</h2>
      <p class="place">
        {done.done} of {campaign.cells.length} runs done
        {notes && `, ${notes}`}
        {done.missing > 0 && `, ${done.missing} to come`}
      </p>
      <progress max={campaign.cells.length} value={done.done} aria-label="Runs done" />
      <div class="tools">
        <Choice label="Rows" value={rows} of={factors} chosen={rows => show({ rows })} />
        <Choice
          label="Columns"
          value={columns}
          of={factors.filter(name => name !== rows)}
          none="none"
          chosen={columns => show({ columns: columns || 'none' })}
        />
        <Choice label="Figure" value={figure} of={names} named={figureLabel} chosen={figure => show({ figure })} />
      </div>
      <Scroll label={`Matrix of cells: ${figureLabel(figure)}`}>
        <table class="matrix list">
          <thead>
            <tr>
              <th>
                {rows}
                {unit && <span class="faint">, {unitName(unit)}</span>}
              </th>
              {table.columns.map(column => (
                <th key={column} class="n">
                  {columns} {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, r) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                {table.columns.map((column, c) => (
                  <CellShown key={column} cells={table.cells[r]?.[c] ?? []} figure={figure} unit={unit} most={most} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="subtitle">
        A square is a run, of which each cell has one in every block: <Square state="done" /> done,{' '}
        {without.length > 0 && (
          <>
            <Square state="void" /> void, skipped or failed, with the reason below,{' '}
          </>
        )}
        <Square state="missing" /> to come. A range is that of all blocks and of the other factors.
      </p>
      {without.length > 0 && <Lacking cells={without} />}
    </>
  );
}

/** Runs that do not count, each with the reason. */
function Lacking({ cells }: { cells: Cell[] }) {
  return (
    <ul class="footnotes voids" aria-label="Runs that do not count">
      {cells.map(cell => (
        <li key={told(cell)}>
          <a href={`/runs/${cell.run}`}>{named(cell)}</a> {cell.state === 'failed' ? 'failed' : `is ${cell.state}`}:{' '}
          {cell.why ?? 'its state was not proven'}
        </li>
      ))}
    </ul>
  );
}

const UNITS: Record<string, string> = { per_s: 'IOPS', bytes_per_s: 'MB/s', ns: 'latency' };

function unitName(unit: string): string {
  return UNITS[unit] ?? unit;
}

function show(value: number, unit: string): string {
  if (unit === 'ns') return latency(value);
  return significant(unit === 'bytes_per_s' ? value / 1e6 : value);
}

function CellShown({ cells, figure, unit, most }: { cells: Cell[]; figure: string; unit: string; most: number }) {
  const of = values(cells, figure);
  const [low, high] = [of[0], of[of.length - 1]];
  return (
    <td class="n">
      <span class="figure">
        {low === undefined || high === undefined ? (
          <span class="faint">–</span>
        ) : low === high || show(low, unit) === show(high, unit) ? (
          <data value={low}>{show(low, unit)}</data>
        ) : (
          <>
            <data value={low}>{show(low, unit)}</data>–<data value={high}>{show(high, unit)}</data>
          </>
        )}
      </span>
      <span class="level" aria-hidden="true" style={{ '--share': most > 0 && high !== undefined ? high / most : 0 }} />
      <span class="squares">
        {cells.map(cell =>
          cell.run ? (
            <a key={`${cell.plan} ${cell.block} ${cell.run}`} href={`/runs/${cell.run}`} title={told(cell)}>
              <Square state={cell.state} />
              <span class="unseen">{told(cell)}</span>
            </a>
          ) : (
            <span key={`${cell.plan} ${cell.block} ${Object.values(cell.levels).join(' ')}`} title={told(cell)}>
              <Square state={cell.state} />
              <span class="unseen">{told(cell)}</span>
            </span>
          ),
        )}
      </span>
    </td>
  );
}

function named(cell: Cell): string {
  const levels = Object.entries(cell.levels).map(([factor, level]) => `${factor} ${level}`);
  return `${[cell.plan, ...levels].join(', ')}, block ${cell.block}`;
}

function told(cell: Cell): string {
  return `${named(cell)}: ${cell.state}${cell.why ? `, ${cell.why}` : ''}`;
}

function Square({ state }: { state: Cell['state'] }) {
  const kind = state === 'done' || state === 'missing' ? state : 'void';
  return <i class={`square ${kind}`} aria-hidden="true" />;
}
