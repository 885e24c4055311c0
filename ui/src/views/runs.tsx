// The list of runs: search, tags, and a selection to compare.

import { useRef, useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { RunRow } from '../contract.ts';
import { ago, duration, utc } from '../figures.ts';
import { typing, useKeys } from '../parts/keys.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';
import { go, withQuery } from '../route.ts';

const PAGE = 200;

type Props = { search: string; tag: string; published: boolean; selected: string[] };

export function RunsView({ search, tag, published, selected }: Props) {
  useTitle('Runs');
  const [limit, setLimit] = useState(PAGE);
  const { value, error, loading } = useLoad(
    signal => api.runs({ search, tag, published, limit }, signal),
    [search, tag, published, limit],
  );
  const [at, setAt] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const runs = value?.runs ?? [];

  function select(ids: string[]): void {
    go(withQuery({ selected: ids.join(',') }), true);
  }
  function toggle(id: string): void {
    select(selected.includes(id) ? selected.filter(other => other !== id) : [...selected, id]);
  }
  function compare(): void {
    if (selected.length >= 2) go(`/compare?runs=${selected.join(',')}`);
  }
  function focusRow(to: number): void {
    const bounded = Math.max(0, Math.min(to, runs.length - 1));
    setAt(bounded);
    const row = body.current?.rows[bounded];
    row?.querySelector<HTMLAnchorElement>('a')?.focus();
    row?.scrollIntoView({ block: 'nearest' });
  }

  useKeys(event => {
    if (event.key === 'Escape' && event.target === field.current) field.current?.blur();
    if (typing(event)) return;
    const row = runs[at];
    if (event.key === '/') field.current?.focus();
    else if (event.key === 'j') focusRow(at + 1);
    else if (event.key === 'k') focusRow(at - 1);
    else if (event.key === 'x' && row) toggle(row.id);
    else if (event.key === 'c') compare();
    else return;
    event.preventDefault();
  });

  return (
    <section class="wide-view">
      <h1>Runs</h1>
      <div class="tools">
        <label class="search">
          <span>
            Search <kbd>/</kbd>
          </span>
          <input
            ref={field}
            type="search"
            placeholder="plan, target, tag, host"
            value={search}
            onInput={event => {
              setAt(-1);
              go(withQuery({ search: event.currentTarget.value }), true);
            }}
          />
        </label>
        {tag !== '' && (
          <button type="button" class="tag" onClick={() => go(withQuery({ tag: '' }))}>
            {tag} <span aria-hidden="true">×</span>
            <span class="unseen">remove this filter</span>
          </button>
        )}
        <button type="button" class="first" disabled={selected.length < 2} onClick={compare}>
          Compare{selected.length >= 2 ? ` ${selected.length} runs` : ''} <kbd>c</kbd>
        </button>
        {selected.length > 0 && (
          <button type="button" class="plain" onClick={() => select([])}>
            Clear selection
          </button>
        )}
        {(published || (value?.published ?? 0) > 0) && (
          <label class="choice">
            <input
              type="checkbox"
              checked={published}
              onChange={event => {
                setAt(-1);
                go(withQuery({ published: event.currentTarget.checked ? '1' : '' }), true);
              }}
            />
            Published figures{published ? '' : ` (${value?.published})`}
          </label>
        )}
        <span class="faint count" role="status">
          {value ? counted(runs.length, value.total) : ' '}
        </span>
      </div>
      <Failure error={error} />
      {value && runs.length === 0 && !loading && <Empty filtered={search !== '' || tag !== ''} />}
      {runs.length > 0 && (
        <Scroll label="Table of runs">
          <table class="list runs">
            <thead>
              <tr>
                <th>Run</th>
                <th>Grade</th>
                <th>Result</th>
                <th>Target</th>
                <th class="n">Points</th>
                <th class="n" title="By the clock of this machine; how long a virtual run took in its own time is in its report">Real time</th>
                <th>Started</th>
                <th>Tags</th>
              </tr>
            </thead>
            <tbody ref={body}>
              {runs.map((run, index) => (
                <Row
                  key={run.id}
                  run={run}
                  here={index === at}
                  chosen={selected.includes(run.id)}
                  toggle={() => toggle(run.id)}
                />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {value && runs.length < value.total && (
        <button type="button" onClick={() => setLimit(limit + PAGE)}>
          Show more
        </button>
      )}
    </section>
  );
}

/** What became of a cell of a campaign of which nothing was measured: the remark says it. */
const NOT_MEASURED = ['void', 'skipped', 'aborted'];

function counted(shown: number, total: number): string {
  if (total === 0) return '';
  return shown < total ? `${shown} of ${total} runs` : `${total} ${total === 1 ? 'run' : 'runs'}`;
}

function Empty({ filtered }: { filtered: boolean }) {
  if (filtered) return <p>No run matches. The search looks at plans, targets, tags and hosts.</p>;
  return (
    <p>
      No runs yet. Start one from a <a href="/plans">plan</a>, or in a terminal:{' '}
      <code>fathom run quick --on array:md3000</code>
    </p>
  );
}

function Row({ run, here, chosen, toggle }: { run: RunRow; here: boolean; chosen: boolean; toggle: () => void }) {
  return (
    <tr class={here ? 'here' : ''} data-run={run.id}>
      <td class="name">
        <input
          type="checkbox"
          checked={chosen}
          onChange={toggle}
          aria-label={`Select run ${run.number}, ${run.plan}`}
        />
        <a href={`/runs/${run.id}`}>
          <span class="faint">{run.number}</span> {run.plan}
        </a>
      </td>
      <td>
        <Grade grade={run.grade} />
      </td>
      <td class="result" data-field="headline">
        {run.headline ?? <span class="faint">{isPublished(run) ? 'see the campaign' : 'no figure'}</span>}
        {run.state !== 'done' && run.state !== 'good' && !NOT_MEASURED.includes(run.remark ?? '') && (
          <span class={run.state === 'not ended' ? 'faint' : 'limit'}> {run.state}</span>
        )}
        {run.remark && run.remark !== 'good' && <span class="faint remark">{run.remark}</span>}
      </td>
      <td class="target">
        {run.target}
        {run.kind === 'virtual' && !run.target.startsWith('array:') && <span class="faint"> virtual</span>}
      </td>
      <td class="n" data-field="points">
        {run.points}
      </td>
      <td class="n">{run.seconds === null ? '–' : duration(run.seconds)}</td>
      <td class="when">
        <time dateTime={run.started} title={`${utc(run.started)} UTC`}>
          {ago(run.started)}
        </time>
      </td>
      <td class="tags">
        {run.campaign && (
          <a class="tag" href={`/campaigns/${encodeURIComponent(run.campaign)}`}>
            {run.campaign}
          </a>
        )}
        {labels(run).map(([key, value]) => (
          <a key={key} class="tag" href={`/?tag=${encodeURIComponent(`${key}=${value}`)}`}>
            {key}={value}
          </a>
        ))}
      </td>
    </tr>
  );
}

/** The tags without that of the campaign, which has a link of its own, and what says the target again. */
function labels(run: RunRow): [string, string][] {
  return Object.entries(run.tags).filter(([key, value]) => key !== 'campaign' && !run.target.startsWith(value));
}

/** Whether it holds what others published beside the figures of its campaign, and nothing that was measured. */
function isPublished(run: RunRow): boolean {
  return run.remark === 'published';
}

/** A letter with its meaning to those who do not know it. */
export function Grade({ grade }: { grade: string | null }) {
  if (grade === null) return <span class="faint">–</span>;
  return (
    <b class="grade" title={`Grade ${grade}: from A, every check passed, to F`}>
      {grade}
    </b>
  );
}
