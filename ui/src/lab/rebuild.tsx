// A rebuild in compressed time, with its cost for the foreground beside it.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { REBUILD_HEIGHT, rebuildChart } from '../charts/rebuild.ts';
import type { LabAsked, Rebuild } from '../contract.ts';
import { duration, latency, significant } from '../figures.ts';
import { EChart } from '../parts/echart.tsx';
import { Failure } from '../parts/message.tsx';

const PLAY_S = 8;

interface Props {
  asked: LabAsked;
  slot: number;
  /** How far the slot is while it plays; nothing afterwards. */
  at: (percent: number | null) => void;
  close: () => void;
}

export function RebuildShown({ asked, slot, at, close }: Props) {
  const [rebuild, set] = useState<Rebuild | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [until, setUntil] = useState(0);
  const [turn, play] = useState(0);

  useEffect(() => {
    const ending = new AbortController();
    api.rebuild({ array: asked.array, workload: asked.workload, fail: slot }, ending.signal).then(
      value => ending.signal.aborted || set(value),
      error => ending.signal.aborted || setError(error),
    );
    return () => {
      ending.abort();
      at(null);
    };
    // One rebuild of what is shown when it begins
  }, []);

  // Its own clock: PLAY_S seconds for the whole. Who wants no motion sees the end at once.
  useEffect(() => {
    if (!rebuild) return;
    const seconds = lengthOf(rebuild);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const begun = performance.now();
    let frame = 0;
    const step = (now: number) => {
      const share = still ? 1 : Math.min(1, (now - begun) / 1000 / PLAY_S);
      setUntil(share * seconds);
      at(share < 1 ? percentAt(rebuild, share * seconds) : null);
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
    // `at` is the same all along
  }, [rebuild, turn]);

  const draw = useMemo(() => (rebuild ? rebuildChart(rebuild, until) : null), [rebuild, until]);
  const seconds = rebuild ? lengthOf(rebuild) : 0;
  const over = rebuild !== null && until >= seconds;
  const point = rebuild?.points.filter(point => point.at_s <= until).pop();
  return (
    <section class="rebuild" aria-labelledby="rebuild-title">
      <h2 id="rebuild-title">Rebuild of the disk in slot {slot}</h2>
      <Failure error={error} />
      <p class="answer" role="status">
        {rebuild ? rebuild.answer : error ? ' ' : 'Simulating the rebuild …'}
      </p>
      {rebuild && (
        <p class="place">
          {over
            ? rebuild.seconds === null
              ? `Not rebuilt within ${duration(seconds)}: beside this load it does not get on.`
              : `Rebuilt after ${duration(seconds)}.`
            : `${significant(percentAt(rebuild, until))} % after ${duration(until)}, ${duration(seconds - until)} left`}
          {!over && point?.foreground_p99_us && `; foreground p99 ${latency(point.foreground_p99_us * 1000)}`}
          <span class="faint">
            {' '}
            {duration(seconds)} are played in {PLAY_S} s.
          </span>
        </p>
      )}
      {draw && (
        <EChart
          draw={draw}
          height={REBUILD_HEIGHT}
          label={`Percent rebuilt and foreground rate over time. ${rebuild?.answer ?? ''}`}
        />
      )}
      <div class="tools">
        <button type="button" disabled={!over} onClick={() => play(turn + 1)}>
          Play again
        </button>
        <button type="button" class="plain" onClick={close}>
          Close
        </button>
      </div>
    </section>
  );
}

/** What is shown of it: to its end, or as far as it was simulated. */
export function lengthOf(rebuild: Rebuild): number {
  return rebuild.seconds ?? rebuild.points[rebuild.points.length - 1]?.at_s ?? 0;
}

/** Percent at a time, between the points by a line. */
export function percentAt(rebuild: Rebuild, at: number): number {
  const next = rebuild.points.findIndex(point => point.at_s >= at);
  const [one, other] = [rebuild.points[next - 1], rebuild.points[next]];
  if (!other) return rebuild.points[rebuild.points.length - 1]?.percent ?? 0;
  if (!one) return other.percent;
  const share = other.at_s > one.at_s ? (at - one.at_s) / (other.at_s - one.at_s) : 1;
  return one.percent + share * (other.percent - one.percent);
}
