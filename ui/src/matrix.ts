// The cells of a campaign by two of its factors.

import type { Campaign, Cell } from './contract.ts';

export interface Matrix {
  rows: string[];
  columns: string[];
  cells: Cell[][][];
}

/** Cells by the levels of two factors; a factor that is '' stands for one row or column of all. */
export function matrix(campaign: Pick<Campaign, 'factors' | 'cells'>, rowFactor: string, columnFactor: string): Matrix {
  const levels = (name: string) => campaign.factors.find(factor => factor.name === name)?.levels ?? [''];
  const rows = levels(rowFactor);
  const columns = levels(columnFactor);
  const has = (cell: Cell, factor: string, level: string) => factor === '' || String(cell.levels[factor]) === level;
  const cells = rows.map(row =>
    columns.map(column => campaign.cells.filter(cell => has(cell, rowFactor, row) && has(cell, columnFactor, column))),
  );
  return { rows, columns, cells };
}

export function counts(cells: Cell[]): Record<Cell['state'], number> {
  const found = { done: 0, void: 0, skipped: 0, aborted: 0, failed: 0, missing: 0 };
  for (const cell of cells) found[cell.state] += 1;
  return found;
}

/** Cells of which there is a record that does not count. */
export function lacking(cells: Cell[]): Cell[] {
  return cells.filter(cell => cell.state !== 'done' && cell.state !== 'missing');
}

/** `2 void, 1 skipped`; empty where nothing lacks. */
export function lacks(cells: Cell[]): string {
  const found = counts(cells);
  const kinds = ['void', 'skipped', 'aborted', 'failed'] as const;
  return kinds
    .filter(kind => found[kind] > 0)
    .map(kind => `${found[kind]} ${kind}`)
    .join(', ');
}

/** The figures that any cell has, in the order of the plan: a record has them by name. */
export function figureNames(cells: Cell[]): string[] {
  const places = new Map<string, number>();
  for (const cell of cells) {
    for (const [name, figure] of Object.entries(cell.figures)) {
      places.set(name, Math.min(places.get(name) ?? Number.POSITIVE_INFINITY, figure.place ?? 0));
    }
  }
  return [...places.keys()].sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
}

const METRICS: Record<string, string> = { iops: 'IOPS', mb_per_s: 'MB/s', mean: 'mean latency', max: 'longest latency' };

/** `4 KiB random read, MB/s` of the name that the server gives a figure, which ends with that of its metric. */
export function figureLabel(name: string): string {
  const at = name.lastIndexOf(', ');
  const metric = name.slice(at + 2);
  const label = METRICS[metric] ?? (/^p\d/.test(metric) ? `${metric} latency` : metric);
  return at < 0 ? name : `${name.slice(0, at)}, ${label}`;
}

/** The values of one figure in `cells`, smallest first. */
export function values(cells: Cell[], figure: string): number[] {
  return cells
    .filter(cell => cell.state === 'done')
    .map(cell => cell.figures[figure]?.value)
    .filter(value => value !== undefined)
    .sort((one, other) => one - other);
}
