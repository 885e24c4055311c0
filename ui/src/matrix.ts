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
  const found = { done: 0, void: 0, missing: 0 };
  for (const cell of cells) found[cell.state] += 1;
  return found;
}

/** The figures that any cell has, in the order of their first use. */
export function figureNames(cells: Cell[]): string[] {
  return [...new Set(cells.flatMap(cell => Object.keys(cell.figures)))];
}

/** The values of one figure in `cells`, smallest first. */
export function values(cells: Cell[], figure: string): number[] {
  return cells
    .filter(cell => cell.state === 'done')
    .map(cell => cell.figures[figure]?.value)
    .filter(value => value !== undefined)
    .sort((one, other) => one - other);
}
