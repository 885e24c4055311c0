// The array lab: a model of an array whose every knob redraws its load curve.

import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { heldMeasure, heldRate, LOAD_HEIGHT, loadChart } from '../charts/load.ts';
import { handDraft } from '../drafts.ts';
import type { Knob, LabAnswer, LabArray } from '../contract.ts';
import { capacity, latency, significant } from '../figures.ts';
import { Breakdown } from '../lab/breakdown.tsx';
import { best, difference, type Measure, rateOf } from '../lab/difference.ts';
import { Enclosure } from '../lab/enclosure.tsx';
import { Knobs } from '../lab/knobs.tsx';
import { RebuildShown } from '../lab/rebuild.tsx';
import {
  asked,
  campaignOf,
  changes,
  fromQuery,
  type LabState,
  loadName,
  published,
  rebuildOf,
  toggled,
  toQuery,
  turned,
  workload,
} from '../lab/state.ts';
import { EChart } from '../parts/echart.tsx';
import { typing, useKeys } from '../parts/keys.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';
import { go, withQuery } from '../route.ts';

const NARROW = matchMedia('(max-width: 46rem)');

export function LabView({ query }: { query: string }) {
  useTitle('Array lab');
  const arrays = useLoad(() => api.labArrays(), []);
  return (
    <section class="wide-view">
      <h1 class="unseen">Array lab</h1>
      <Failure error={arrays.error} />
      {arrays.value && arrays.value.length > 0 && <Lab query={query} arrays={arrays.value} />}
    </section>
  );
}

interface Answered {
  state: LabState;
  answer: LabAnswer;
}

/**
 * One request at a time: a quick look first, which is drawn at once, then the whole. When one is back and something else
 * is wanted by then, the newest is asked for.
 */
function useAnswer(wanted: LabState, knobs: Knob[]): { now: Answered | null; error: unknown; waiting: boolean } {
  const [now, set] = useState<Answered | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [waiting, setWaiting] = useState(true);
  const newest = useRef({ wanted, knobs });
  newest.current = { wanted, knobs };
  const busy = useRef(false);
  const known = useRef(new Map<string, LabAnswer>());
  const gone = useRef(false);
  const key = toQuery(wanted);

  async function run(): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    setWaiting(true);
    for (let effort: 'quick' | 'full' = 'quick'; ; ) {
      const { wanted, knobs } = newest.current;
      const key = toQuery(wanted);
      let over = true;
      try {
        const answer = known.current.get(key) ?? (await api.lab({ ...asked(wanted, knobs), effort }));
        if (gone.current) return;
        over = answer.effort !== 'quick';
        if (over) known.current.set(key, answer);
        set({ state: wanted, answer });
        setError(null);
      } catch (error) {
        if (gone.current) return;
        setError(error);
      }
      const same = toQuery(newest.current.wanted) === key;
      if (same && over) break;
      effort = same ? 'full' : 'quick';
    }
    busy.current = false;
    setWaiting(false);
  }

  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
    };
  }, []);
  useEffect(() => void run(), [key]);
  return { now, error, waiting };
}

function Lab({ query, arrays }: { query: string; arrays: LabArray[] }) {
  const settled = useMemo(() => fromQuery(query, arrays), [query, arrays]);
  const [moved, move] = useState<LabState | null>(null);
  const state = moved ?? settled;
  const array = arrays.find(array => array.array === state.array) as LabArray;
  const { now, error, waiting } = useAnswer(state, array.knobs);
  const [before, setBefore] = useState<Answered | null>(null);
  const last = useRef<Answered | null>(null);
  const [percent, setPercent] = useState<number | null>(null);
  const [chosen, setMeasure] = useState<Measure | null>(null);
  const key = toQuery(settled);
  const slot = rebuildOf(query, settled);
  const rebuild = slot === null ? null : { slot, asked: asked({ ...settled, fail: [] }, array.knobs) };

  // What was shown for the last settled state becomes the ghost of the next.
  useEffect(() => {
    move(null);
    if (last.current && toQuery(last.current.state) !== key) setBefore(last.current);
  }, [key]);
  useEffect(() => {
    if (now && toQuery(now.state) === key) last.current = now;
  }, [now, key]);

  const ghost = moved ? last.current : before;
  const differs = now && ghost && toQuery(ghost.state) !== toQuery(now.state) ? ghost : null;
  const of = workload(state, array.knobs);
  const usual = of.pattern === 'sequential' ? 'MB/s' : 'IOPS';
  const measure = chosen ?? heldMeasure(now?.answer.published ?? [], usual);

  const turn = (knob: Knob, value: string, final: boolean) => {
    const next = turned(state, knob, value);
    if (!final) move(next);
    else if (toQuery(next) === key) move(null);
    else go(`/lab${toQuery(next)}`);
  };
  const undo = useCallback(() => history.back(), []);
  const steps = (history.state as { step?: number } | null)?.step ?? 0;
  const at = useCallback((percent: number | null) => setPercent(percent), []);

  useKeys(event => {
    if (event.key === 'u' && !typing(event) && steps > 0) undo();
  });

  const draw = useMemo(
    () => (now ? loadChart(now.answer, differs?.answer ?? null, measure) : null),
    [now, differs, measure],
  );
  const failed = now?.answer.slots.filter(slot => slot.state === 'failed') ?? [];

  return (
    <>
      <div class="tools">
        <label class="inline">
          Array
          <select
            value={state.array}
            onChange={event => go(`/lab?array=${encodeURIComponent(event.currentTarget.value)}`)}
          >
            {arrays.map(array => (
              <option key={array.array} value={array.array}>
                {array.array}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={steps === 0} onClick={undo}>
          Undo <kbd>u</kbd>
        </button>
        <Share />
        <Campaign toml={() => campaignOf(settled, before?.state ?? null, array.knobs)} />
      </div>
      <Failure error={error} />
      <div class="lab-head" role="status" aria-live="polite" aria-busy={waiting}>
        <p class="answer">
          {now?.answer.answer ?? ' '}
          {now?.answer.effort === 'quick' && <span class="faint"> A first look; the whole follows.</span>}
        </p>
        <p class="reading">{now?.answer.reading ?? ' '}</p>
        <p class="difference">
          {now && differs
            ? difference(changes(differs.state, now.state, array.knobs), differs.answer, now.answer, measure)
            : ' '}
        </p>
      </div>
      <div class="lab">
        <details class="left" open={!NARROW.matches}>
          <summary>Knobs</summary>
          <Knobs knobs={array.knobs} state={state} turn={turn} />
        </details>
        <div class="middle">
          <div class="caption">
            <h2>{measure} against queue depth</h2>
            <label class="inline">
              <span class="unseen">Rate in</span>
              <select value={measure} onChange={event => setMeasure(event.currentTarget.value as Measure)}>
                <option>IOPS</option>
                <option>MB/s</option>
              </select>
            </label>
          </div>
          {draw && now ? (
            <EChart draw={draw} height={LOAD_HEIGHT} label={`Load curve. ${now.answer.answer}`} />
          ) : (
            <div class="chart" style={{ height: `${LOAD_HEIGHT}px` }} />
          )}
          {now && <Warnings answer={now.answer} />}
          {now && <LoadTable answer={now.answer} />}
          {now && now.answer.published.length > 0 && <Held answer={now.answer} measure={measure} />}
          {array.published.length > 0 && <PublishedLoads array={array} state={settled} />}
          {now && <Breakdown answer={now.answer} />}
        </div>
        <div class="right">
          <h2>Enclosure</h2>
          {array.about && <p class="faint about">{array.about}</p>}
          {now && (
            <>
              <Enclosure
                slots={now.answer.slots}
                toggle={slot => go(`/lab${toQuery(toggled(settled, slot))}`)}
                rebuilding={rebuild && percent !== null ? { slot: rebuild.slot, percent } : null}
              />
              <p>{capacity(now.answer.usable_bytes)} usable. Click a disk to fail it, again to put it back.</p>
              {failed.map(slot => (
                <button
                  type="button"
                  key={slot.slot}
                  disabled={rebuild !== null}
                  onClick={() => go(withQuery({ rebuild: String(slot.slot) }))}
                >
                  Rebuild slot {slot.slot}
                </button>
              ))}
              {rebuild && (
                <RebuildShown
                  key={`${key} ${rebuild.slot}`}
                  {...rebuild}
                  at={at}
                  close={() => go(withQuery({ rebuild: '' }))}
                />
              )}
            </>
          )}
        </div>
      </div>
    </>
  );
}

/** What makes figures of the curve doubtful, with the depths that it is about. */
function Warnings({ answer }: { answer: LabAnswer }) {
  return (
    <ul class="footnotes">
      {(answer.warnings ?? []).map(warning => (
        <li key={warning.code}>
          {warning.depths.length > 0 && `Queue depth ${warning.depths.join(', ')}: `}
          {warning.sentence}
        </li>
      ))}
    </ul>
  );
}

function LoadTable({ answer }: { answer: LabAnswer }) {
  return (
    <details>
      <summary>Table: rate and response time by queue depth</summary>
      <Scroll label="Table of the load curve">
        <table class="list">
          <thead>
            <tr>
              <th class="n">queue depth</th>
              <th class="n">IOPS</th>
              <th>95 % interval</th>
              <th class="n">MB/s</th>
              <th class="n">mean</th>
              <th class="n">p50</th>
              <th class="n">p99</th>
            </tr>
          </thead>
          <tbody>
            {answer.points.map(point => (
              <tr key={point.depth}>
                <td class="n">{point.depth}</td>
                <td class="n">
                  <data value={point.iops}>{significant(point.iops)}</data>
                </td>
                <td class="interval">
                  {point.low !== null && point.high !== null ? (
                    `${significant(point.low)} to ${significant(point.high)}`
                  ) : (
                    <span class="faint">{point.no_interval}</span>
                  )}
                </td>
                <td class="n">{significant(point.mb_s)}</td>
                <td class="n">{point.mean_us === null ? '' : latency(point.mean_us * 1000)}</td>
                <td class="n">{point.p50_us === null ? '' : latency(point.p50_us * 1000)}</td>
                <td class="n">{point.p99_us === null ? '' : latency(point.p99_us * 1000)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

/** Figures of others beside the model's at the same queue depth, or at its best. */
function Held({ answer, measure }: { answer: LabAnswer; measure: Measure }) {
  return (
    <details open>
      <summary>Published and measured figures of this array</summary>
      <Scroll label="Table of published and measured figures">
        <table class="list">
          <thead>
            <tr>
              <th>Figure</th>
              <th class="n">reported</th>
              <th class="n">model</th>
              <th class="n">ratio</th>
            </tr>
          </thead>
          <tbody>
            {answer.published.map(held => {
              const as: Measure = heldMeasure([held], measure);
              const theirs = heldRate(held, as);
              const point =
                answer.points.find(point => point.depth === held.depth) ??
                (held.depth === null ? best(answer, as) : null);
              const time = theirs === null && (held.latency_us ?? null) !== null;
              const model = point ? (time ? point.mean_us : rateOf(point, as)) : null;
              const value = time ? held.latency_us : theirs;
              const show = (of: number) => (time ? latency(of * 1000) : `${significant(of)} ${as}`);
              return (
                <tr key={`${held.label} ${held.depth} ${value}`}>
                  <td class="name">
                    {held.about ?? held.label}
                    <span class="faint">
                      {' '}
                      {held.kind}
                      {held.about ? ` ${held.label}` : ''}
                      {held.depth === null ? '' : `, queue depth ${held.depth}`}
                    </span>
                    <span class="source">{held.source}</span>
                  </td>
                  <td class="n">{value === null ? '–' : show(value)}</td>
                  <td class="n">{model === null ? <span class="faint">not on the curve</span> : show(model)}</td>
                  <td class="n">{model === null || !value ? '' : significant(model / value)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

/** Loads of which figures are published: a click has the lab simulate that load, with the figures on its curve. */
function PublishedLoads({ array, state }: { array: LabArray; state: LabState }) {
  const here = toQuery(state);
  return (
    <details class="loads">
      <summary>Loads with published figures: {array.published.length}</summary>
      <ul>
        {array.published.map(load => {
          const query = toQuery(published(array, load));
          const count = load.labels.length;
          return (
            <li key={query}>
              <a href={`/lab${query}`} aria-current={query === here ? 'true' : undefined}>
                {loadName(load)}
              </a>{' '}
              <span class="faint">{count === 1 ? load.labels[0] : `${count} figures`}</span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

function Share() {
  const [copied, set] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => set(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button type="button" onClick={() => navigator.clipboard?.writeText(location.href).then(() => set(true))}>
      {copied ? 'Address copied' : 'Copy address'}
    </button>
  );
}

function Campaign({ toml }: { toml: () => string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, set] = useState('');
  const [copied, setCopied] = useState(false);
  return (
    <>
      <button
        type="button"
        onClick={() => {
          set(toml());
          setCopied(false);
          dialog.current?.showModal();
        }}
      >
        Make a campaign of this
      </button>
      <dialog ref={dialog} class="campaign" aria-labelledby="campaign-title">
        <h2 id="campaign-title">A campaign of this</h2>
        <p>
          Its factors are what was changed last. Change the levels to those in question and start it here, or save it
          as lab.toml and run it in a terminal.
        </p>
        <pre>{text}</pre>
        <pre>fathom campaign lab.toml --dry-run{'\n'}fathom campaign lab.toml</pre>
        <div class="tools">
          <button
            type="button"
            class="first"
            onClick={() => {
              handDraft(text);
              go('/new-campaign?draft');
            }}
          >
            Open in the editor
          </button>
          <button
            type="button"
            onClick={() => navigator.clipboard?.writeText(text).then(() => setCopied(true))}
          >
            {copied ? 'Copied' : 'Copy'}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      </dialog>
    </>
  );
}
