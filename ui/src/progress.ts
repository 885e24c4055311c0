// What the events of a run say so far: a state that each event moves on, as plain data.

import { duration, latency, significant } from './figures.ts';
import type { Point } from './record.d.ts';

export interface Sample {
  /** Seconds on the run's own clock. */
  at: number;
  iops: number;
  p99Ns: number | null;
}

export interface Progress {
  /** The point that is measured, from 0; −1 before the first. */
  index: number;
  of: number;
  name: string;
  doing: string;
  done: number | null;
  nowS: number;
  startedS: number;
  /** What each point that has started is expected to take, by its index. */
  expectedS: number[];
  samples: Sample[];
  /** Where on the clock each point began. */
  marks: { at: number; name: string }[];
  points: Point[];
  errors: number;
  errorsBefore: number;
  inFlight: number | null;
  last: { index: number; at: number; ops: number } | null;
}

export const NOTHING: Progress = {
  index: -1,
  of: 0,
  name: '',
  doing: '',
  done: null,
  nowS: 0,
  startedS: 0,
  expectedS: [],
  samples: [],
  marks: [],
  points: [],
  errors: 0,
  errorsBefore: 0,
  inFlight: null,
  last: null,
};

interface Started {
  event: 'point-started';
  index: number;
  of: number;
  name: string;
  expected_ns: number | null;
}

interface Live {
  event: 'live';
  index: number;
  now_ns: number;
  ops: number;
  errors: number;
  in_flight: number | null;
  doing: string;
  done: number | null;
  response_p99_ns: number | null;
}

interface PointEnded {
  event: 'point-ended';
  point: Point;
}

export type RunEvent = Started | Live | PointEnded | { event: string };

/** Rates are means over at least so long: shorter ones show the clock's grain. */
const STEP_S = 0.95;
const MOST_SAMPLES = 1200;

/** The state after one more event; an event that is not known changes nothing. */
export function after(was: Progress, event: RunEvent): Progress {
  switch (event.event) {
    case 'point-started': {
      const { index, of, name, expected_ns } = event as Started;
      const expectedS = [...was.expectedS];
      expectedS[index] = (expected_ns ?? 0) / 1e9;
      return {
        ...was,
        index,
        of,
        name,
        doing: '',
        done: null,
        startedS: was.nowS,
        expectedS,
        marks: [...was.marks, { at: was.nowS, name }],
        errorsBefore: was.errorsBefore + was.errors,
        errors: 0,
        last: null,
      };
    }
    case 'live':
      return lived(was, event as Live);
    case 'point-ended': {
      const { point } = event as PointEnded;
      return { ...was, points: [...was.points, point], nowS: Math.max(was.nowS, point.ended_ns / 1e9) };
    }
    default:
      return was;
  }
}

function lived(was: Progress, event: Live): Progress {
  const at = event.now_ns / 1e9;
  const now: Progress = {
    ...was,
    nowS: at,
    doing: event.doing,
    done: event.done,
    errors: event.errors,
    inFlight: event.in_flight,
  };
  const from = was.last;
  // A point may begin after a rest: what is counted begins with its first event.
  if (from === null || from.index !== event.index || event.ops < from.ops) {
    return { ...now, startedS: at, last: { index: event.index, at, ops: event.ops } };
  }
  const length = at - from.at;
  if (length < STEP_S) return { ...now, last: from };
  const sample = { at, iops: (event.ops - from.ops) / length, p99Ns: event.response_p99_ns };
  return {
    ...now,
    last: { index: event.index, at, ops: event.ops },
    samples: [...was.samples, sample].slice(-MOST_SAMPLES),
  };
}

/** Seconds that the run will still take, if the points to come are as long as those so far; none before the first. */
export function remaining(progress: Progress): number | null {
  const { index, of, expectedS, nowS, startedS } = progress;
  if (index < 0 || expectedS.length === 0) return null;
  const mean = expectedS.reduce((sum, length) => sum + length, 0) / expectedS.length;
  if (!(mean > 0)) return null;
  const rest = Math.max(0, (expectedS[index] ?? mean) - (nowS - startedS));
  return rest + mean * (of - index - 1);
}

/** Student's t at 97.5 % for a few degrees of freedom; 1.96 beyond. */
const T = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1, 2.09,
];

export interface SoFar {
  mean: number;
  /** Half of the 95 % interval, as a share of the mean. */
  within: number;
  steady: 'yes' | 'rising' | 'falling' | 'unknown';
}

/** The rate of the present point so far, from the second half of its samples: the first may be warm-up. */
export function soFar(progress: Progress): SoFar | null {
  const of = progress.samples.filter(sample => sample.at > progress.startedS).map(sample => sample.iops);
  const late = of.slice(Math.floor(of.length / 2));
  if (late.length === 0) return null;
  const mean = average(late);
  if (late.length < 3 || mean === 0) return { mean, within: Number.NaN, steady: 'unknown' };
  const deviation = Math.sqrt(late.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (late.length - 1));
  const within = ((T[late.length - 2] ?? 1.96) * deviation) / Math.sqrt(late.length) / mean;
  const half = Math.floor(late.length / 2);
  const drift = average(late.slice(-half)) / average(late.slice(0, half)) - 1;
  const steady = Math.abs(drift) <= 0.05 ? 'yes' : drift > 0 ? 'rising' : 'falling';
  return { mean, within, steady };
}

function average(of: number[]): number {
  return of.reduce((sum, value) => sum + value, 0) / of.length;
}

/** The sentence above the chart. */
export function sentence(progress: Progress): string {
  if (progress.index < 0) return 'Waiting for the first point.';
  const rate = soFar(progress);
  if (progress.doing !== '' && progress.doing !== 'load') {
    const share = progress.done === null ? '' : `, ${Math.round(progress.done * 100)} % done`;
    return `${progress.name}: ${progress.doing}${share}.`;
  }
  if (!rate) return `${progress.name} has just begun; no rate yet.`;
  const p99 = [...progress.samples].reverse().find(sample => sample.p99Ns !== null)?.p99Ns;
  const interval = Number.isNaN(rate.within) ? '' : ` ± ${significant(rate.within * 100)} %`;
  const steady = {
    yes: '',
    unknown: ', too early to say whether it is steady',
    rising: ', still rising',
    falling: ', still falling',
  };
  return `So far ${significant(rate.mean)} IOPS${interval}${p99 ? ` at a p99 of ${latency(p99)}` : ''}${steady[rate.steady]}.`;
}

/** Where the run is, in virtual time or by the clock: `point 3 of 16: 100% reads, 4 in flight`. */
export function place(progress: Progress, virtual: boolean): string {
  if (progress.index < 0) return '';
  const rest = remaining(progress);
  const clock = virtual ? " of the array's own time, which passes faster," : '';
  const time = rest === null ? '' : `, about ${duration(rest)}${clock} left by the length of the points so far`;
  return `Point ${progress.index + 1} of ${progress.of}: ${progress.name}${time}`;
}
