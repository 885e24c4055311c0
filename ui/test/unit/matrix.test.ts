import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cell } from '../../src/contract.ts';
import { counts, figureNames, lacking, lacks, matrix, values } from '../../src/matrix.ts';

function cell(raid: string, disks: string, block: number, state: Cell['state'], iops?: number): Cell {
  return {
    plan: 'quick',
    levels: { raid, disks },
    block,
    run: state === 'missing' ? null : 'r',
    state,
    figures: iops === undefined ? {} : { iops: { value: iops, unit: 'per_s' } },
  };
}

const CELLS = [
  cell('5', '4', 1, 'done', 30),
  cell('5', '4', 2, 'done', 20),
  cell('10', '4', 1, 'void', 99),
  cell('10', '8', 1, 'missing'),
];
const FACTORS = [
  { name: 'raid', levels: ['5', '10'] },
  { name: 'disks', levels: ['4', '8'] },
];

test('each cell is in the place of its levels', () => {
  const table = matrix({ factors: FACTORS, cells: CELLS }, 'raid', 'disks');
  assert.deepEqual(
    table.cells.map(row => row.map(cells => cells.length)),
    [
      [2, 0],
      [1, 1],
    ],
  );
});

test('without a second factor there is one column of all', () => {
  const table = matrix({ factors: FACTORS, cells: CELLS }, 'raid', '');
  assert.deepEqual(
    table.cells.map(row => row.map(cells => cells.length)),
    [[2], [2]],
  );
});

test('void and missing cells have no figure', () => {
  assert.deepEqual(values(CELLS, 'iops'), [20, 30]);
  assert.deepEqual(counts(CELLS), { done: 2, void: 1, skipped: 0, aborted: 0, failed: 0, missing: 1 });
  assert.deepEqual([lacking(CELLS).length, lacks(CELLS), lacks([])], [1, '1 void', '']);
  assert.deepEqual(figureNames(CELLS), ['iops']);
});
