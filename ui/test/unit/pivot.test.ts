import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount, differing, type Fact, FIGURES, fixed, having, levels, pivot, shown, usual, within } from '../../src/pivot.ts';
import type { OpSummary } from '../../src/record.d.ts';

function fact(keys: Record<string, string>, iops: number): Fact {
  const summary = {
    op: 'read',
    ops_per_s: { value: iops, low: iops - 1, high: iops + 1 },
    bytes_per_s: { value: iops * 4096 },
  };
  return { keys, summary: summary as OpSummary, at: '' };
}

const ALL = [
  fact({ run: 'a', target: 'x', depth: '16' }, 160),
  fact({ run: 'a', target: 'x', depth: '2' }, 20),
  fact({ run: 'b', target: 'x', depth: '2' }, 30),
];
const [IOPS] = FIGURES;
assert.ok(IOPS);

test('only keys that differ are offered', () => {
  assert.deepEqual(differing(ALL), ['run', 'depth']);
  assert.deepEqual(usual(ALL, ['run', 'depth']), { rows: 'depth', columns: 'run' });
  const apart = [fact({ run: 'a', point: 'p', target: 'x' }, 1), fact({ run: 'b', point: 'q', target: 'y' }, 1)];
  assert.deepEqual(usual(apart, ['run', 'point', 'target']), { rows: 'point', columns: 'target' });
});

test('levels that are numbers are in their order, and what is missing is empty', () => {
  const table = pivot(ALL, 'depth', 'run');
  assert.deepEqual(table.rows, ['2', '16']);
  assert.deepEqual(table.columns, ['a', 'b']);
  assert.deepEqual(
    table.cells.map(row => row.map(cell => cell.length)),
    [
      [1, 1],
      [1, 0],
    ],
  );
});

test('several values of a cell are a range, never a mean', () => {
  const table = pivot(ALL, 'depth', '');
  assert.deepEqual(shown(table.cells[0]?.[0] ?? [], IOPS), { value: null, low: 20, high: 30, count: 2 });
  assert.deepEqual(shown(table.cells[1]?.[0] ?? [], IOPS), { value: 160, low: 159, high: 161, count: 1 });
});

test('what cells do not tell apart can be fixed, and then each has one value', () => {
  const free = pivot(ALL, 'run', '');
  assert.deepEqual(within(free.cells), ['depth']);
  assert.deepEqual(levels(ALL, 'depth'), ['2', '16']);
  const table = pivot(having(ALL, fixed('depth=2')), 'run', '');
  assert.deepEqual(
    table.cells.map(row => shown(row[0] ?? [], IOPS).value),
    [20, 30],
  );
});

test('a percentile that a record does not have is missing, not zero', () => {
  const p99 = FIGURES.find(figure => figure.name === 'p99');
  assert.ok(p99);
  assert.equal(shown(ALL, p99).count, 0);
});

test('levels are read as amounts', () => {
  assert.equal(amount('64KiB'), 65536);
  assert.equal(amount('70%'), 70);
  assert.equal(amount('512B'), 512);
  assert.equal(amount('RAID 5'), null);
});

test('a point with several operations is told as a whole, unless they are a key', () => {
  const of = (op: Fact['summary']['op'], iops: number): Fact => {
    const one = fact({ run: 'a', operation: op }, iops);
    return { ...one, summary: { ...one.summary, op } };
  };
  const all = [of('all', 30), of('read', 20), of('write', 10)];
  assert.equal(shown(pivot(all, 'run', '').cells[0]?.[0] ?? [], IOPS).value, 30);
  assert.deepEqual(
    pivot(all, 'operation', '').cells.map(row => shown(row[0] ?? [], IOPS).value),
    [30, 20, 10],
  );
});
