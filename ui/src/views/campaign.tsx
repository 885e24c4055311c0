// A campaign: which cells are done, what they gave, and what matters.

import { api } from '../api.ts';
import type { Campaign, Cell } from '../contract.ts';
import { latency, significant } from '../figures.ts';
import { counts, figureNames, matrix, values } from '../matrix.ts';
import { Report } from '../parts/article.tsx';
import { Choice, chosenKey } from '../parts/choice.tsx';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';
import { go, withQuery } from '../route.ts';
import { Downloads, Drawing } from './run.tsx';

interface Props {
  name: string;
  rows: string;
  columns: string;
  figure: string;
}

export function CampaignView({ name, ...chosen }: Props) {
  const { value, error } = useLoad(() => api.campaign(name), [name]);
  useTitle(name);
  return (
    <section class="wide-view">
      <nav class="tools" aria-label="This campaign">
        <Downloads runs={[`campaign:${name}`]} name={`fathom-${name}`} />
      </nav>
      <Failure error={error} />
      {value ? (
        <Report article={value}>
          <Cells campaign={value} chosen={chosen} />
        </Report>
      ) : (
        !error && <Drawing />
      )}
    </section>
  );
}

function Cells({ campaign, chosen }: { campaign: Campaign; chosen: Omit<Props, 'name'> }) {
  const factors = campaign.factors.map(factor => factor.name);
  const names = figureNames(campaign.cells);
  const rows = factors.includes(chosen.rows) ? chosen.rows : (factors[0] ?? '');
  const columns = chosenKey(chosen.columns, factors, rows) ?? factors.find(name => name !== rows) ?? '';
  const figure = names.includes(chosen.figure) ? chosen.figure : (names[0] ?? '');
  const table = matrix(campaign, rows, columns);
  const done = counts(campaign.cells);
  const unit = campaign.cells.find(cell => cell.figures[figure])?.figures[figure]?.unit ?? '';
  const all = campaign.cells.flatMap(cell => values([cell], figure));
  const most = Math.max(0, ...all);
  const show = (change: Record<string, string>) =>
    go(withQuery({ rows, columns: columns || 'none', figure, ...change }), true);

  return (
    <>
      <h2>Cells</h2>
      <p class="place">
        {done.done} of {campaign.cells.length} cells done
        {done.void > 0 && `, ${done.void} void`}
        {done.missing > 0 && `, ${done.missing} missing: fathom campaign ${campaign.name} resumes`}
      </p>
      <progress max={campaign.cells.length} value={done.done} aria-label="Cells done" />
      <div class="tools">
        <Choice label="Rows" value={rows} of={factors} chosen={rows => show({ rows })} />
        <Choice
          label="Columns"
          value={columns}
          of={factors.filter(name => name !== rows)}
          none="none"
          chosen={columns => show({ columns: columns || 'none' })}
        />
        <Choice label="Figure" value={figure} of={names} chosen={figure => show({ figure })} />
      </div>
      <Scroll label={`Matrix of cells: ${figure}`}>
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
        A square is a cell in a block: <Square state="done" /> done, <Square state="void" /> void, its state was read
        back as another, <Square state="missing" /> missing. A range is that of all blocks and of the other factors.
      </p>
    </>
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
            <a key={`${cell.block} ${cell.run}`} href={`/runs/${cell.run}`} title={told(cell)}>
              <Square state={cell.state} />
              <span class="unseen">{told(cell)}</span>
            </a>
          ) : (
            <span key={`${cell.block} ${Object.values(cell.levels).join(' ')}`} title={told(cell)}>
              <Square state={cell.state} />
              <span class="unseen">{told(cell)}</span>
            </span>
          ),
        )}
      </span>
    </td>
  );
}

function told(cell: Cell): string {
  const levels = Object.entries(cell.levels).map(([factor, level]) => `${factor} ${level}`);
  return `${levels.join(', ')}, block ${cell.block}: ${cell.state}${cell.why ? `, ${cell.why}` : ''}`;
}

function Square({ state }: { state: Cell['state'] }) {
  return <i class={`square ${state}`} aria-hidden="true" />;
}
