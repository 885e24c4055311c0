// Records laid out as rows of facts, and these as a table of one figure by two keys.

import { binary, latency, natural, significant } from './figures.ts';
import type { OpSummary, Run } from './record.d.ts';

export interface Figure {
  name: string;
  /** What comes behind a value; latencies carry their own. */
  unit: string;
  /** Whether less is better. */
  lower: boolean;
  of(summary: OpSummary): Value | null;
  show(value: number): string;
}

export interface Value {
  value: number;
  low: number | null;
  high: number | null;
}

function quantile(q: number, name: string): Figure {
  return {
    name,
    unit: '',
    lower: true,
    of: summary => {
      const found = summary.response?.quantiles.find(one => one.q === q);
      return found ? { value: found.value_ns, low: found.low_ns ?? null, high: found.high_ns ?? null } : null;
    },
    show: latency,
  };
}

export const FIGURES: Figure[] = [
  {
    name: 'IOPS',
    unit: 'IOPS',
    lower: false,
    of: summary => ({
      value: summary.ops_per_s.value,
      low: summary.ops_per_s.low ?? null,
      high: summary.ops_per_s.high ?? null,
    }),
    show: significant,
  },
  {
    name: 'MB/s',
    unit: 'MB/s',
    lower: false,
    of: ({ bytes_per_s: of }) => ({
      value: of.value / 1e6,
      low: of.low == null ? null : of.low / 1e6,
      high: of.high == null ? null : of.high / 1e6,
    }),
    show: significant,
  },
  {
    name: 'mean latency',
    unit: '',
    lower: true,
    of: ({ response: of }) =>
      of ? { value: of.mean_ns, low: of.mean_low_ns ?? null, high: of.mean_high_ns ?? null } : null,
    show: latency,
  },
  quantile(0.5, 'p50'),
  quantile(0.99, 'p99'),
  quantile(0.999, 'p99.9'),
];

/** One summary of one point of one run, with everything it can be sorted by. */
export interface Fact {
  keys: Record<string, string>;
  summary: OpSummary;
  /** Where it is in its record, as reports write it. */
  at: string;
}

/**
 * The facts of `runs`, one for each operation and, where there are several, one for all of them. A run is called by its label
 * in `labels`, by its id.
 */
export function facts(runs: Run[], labels: Record<string, string>): Fact[] {
  const found: Fact[] = [];
  runs.forEach((run, place) => {
    for (const [p, point] of run.points.entries()) {
      for (const [w, workload] of point.workloads.entries()) {
        for (const [s, summary] of workload.summary.entries()) {
          found.push({
            keys: {
              run: labels[run.id] ?? `${run.plan.name} ${run.id}`,
              plan: run.plan.name,
              target: run.targets.map(target => target.address).join(', '),
              point: point.name,
              phase: point.phase,
              workload: workload.name,
              operation: summary.op,
              repeat: String(point.repeat),
              ...Object.fromEntries(Object.entries(point.swept ?? {}).map(([key, value]) => [key, level(key, value)])),
              ...Object.fromEntries(Object.entries(run.tags ?? {}).map(([key, value]) => [`tag ${key}`, value])),
            },
            summary,
            at: `${place}p${p}w${w}s${s}`,
          });
        }
      }
    }
  });
  return found;
}

/** Sizes that are written as bare bytes are hard to read. */
function level(key: string, value: string): string {
  return key === 'size' && /^\d+$/.test(value) ? binary(Number(value)) : value;
}

/** The keys that facts differ by, in the order of their first use. */
export function differing(all: Fact[]): string[] {
  const levels = new Map<string, Set<string>>();
  for (const fact of all) {
    for (const [key, value] of Object.entries(fact.keys)) {
      const of = levels.get(key) ?? new Set();
      levels.set(key, of.add(value));
    }
  }
  return [...levels].filter(([, of]) => of.size > 1).map(([key]) => key);
}

export interface Pivot {
  rows: string[];
  columns: string[];
  /** The facts of each row and column; empty where there are none. */
  cells: Fact[][][];
}

/** Values that are fixed, by their keys, as an address has them. */
export function fixed(only: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(only));
}

/** The facts that have these values. */
export function having(all: Fact[], only: Record<string, string>): Fact[] {
  return all.filter(fact => Object.entries(only).every(([key, value]) => fact.keys[key] === value));
}

/** The keys by which facts of one cell differ, and so what can be fixed. */
export function within(cells: Fact[][][]): string[] {
  const found = new Set<string>();
  for (const cell of cells.flat()) for (const key of differing(cell)) found.add(key);
  return [...found];
}

/** The values that facts have of a key, in their order. */
export function levels(all: Fact[], key: string): string[] {
  const found = [...new Set(all.flatMap(fact => fact.keys[key] ?? []))];
  return found.every(value => /^[\d.]/.test(value)) ? found.sort(bySize) : found;
}

/** Facts by two of their keys; without a key for the columns there is one column. */
export function pivot(all: Fact[], rowKey: string, columnKey: string): Pivot {
  const having = all.filter(fact => rowKey in fact.keys && (columnKey === '' || columnKey in fact.keys));
  const rows = levels(having, rowKey);
  const columns = columnKey === '' ? [''] : levels(having, columnKey);
  const cells = rows.map(row =>
    columns.map(column => {
      const of = having.filter(
        fact => fact.keys[rowKey] === row && (columnKey === '' || fact.keys[columnKey] === column),
      );
      return rowKey === 'operation' || columnKey === 'operation' ? of : whole(of);
    }),
  );
  return { rows, columns, cells };
}

/** Where operations are not told apart, that of all of them stands for a point. */
function whole(of: Fact[]): Fact[] {
  const all = of.filter(fact => fact.summary.op === 'all');
  return all.length > 0 ? all : of;
}

const UNITS: Record<string, number> = { k: 1e3, m: 1e6, g: 1e9, ki: 1024, mi: 1024 ** 2, gi: 1024 ** 3 };

/** A level as a number, for an axis: `64KiB`, `70%`, `16`; none for words. */
export function amount(text: string): number | null {
  const [, number, prefix] = /^([\d.]+)\s*([kmg]i?)?b?%?$/i.exec(text) ?? [];
  return number === undefined ? null : Number(number) * (UNITS[prefix?.toLowerCase() ?? ''] ?? 1);
}

function bySize(one: string, other: string): number {
  return (amount(one) ?? 0) - (amount(other) ?? 0) || natural(one, other);
}

/** What a cell says: one value with its interval, or the range of several, which are never averaged. */
export interface Shown {
  value: number | null;
  low: number | null;
  high: number | null;
  count: number;
}

export function shown(of: Fact[], figure: Figure): Shown {
  const values = of.map(fact => figure.of(fact.summary)).filter(value => value !== null);
  const first = values[0];
  if (!first) return { value: null, low: null, high: null, count: 0 };
  if (values.length === 1) return { ...first, count: 1 };
  const all = values.map(value => value.value);
  return { value: null, low: Math.min(...all), high: Math.max(...all), count: values.length };
}

/** The two keys that a comparison starts with: points, by what tells the runs apart. */
export function usual(all: Fact[], keys: string[]): { rows: string; columns: string } {
  const rows = keys.includes('point') ? 'point' : (keys.find(key => key !== 'run') ?? 'run');
  const levels = (key: string) => new Set(all.map(fact => fact.keys[key])).size;
  const target = keys.includes('target') && levels('target') === levels('run');
  const columns = target ? 'target' : (keys.find(key => key !== rows) ?? '');
  return { rows, columns: columns === rows ? '' : columns };
}
