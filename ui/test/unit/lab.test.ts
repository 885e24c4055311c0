import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tailOf } from '../../src/charts/load.ts';
import type { Knob, LabAnswer } from '../../src/contract.ts';
import { difference } from '../../src/lab/difference.ts';
import { asked, campaignOf, changes, fromQuery, loadName, published, rebuildOf, toggled, toQuery, turned } from '../../src/lab/state.ts';

const RAID: Knob = {
  key: 'raid',
  label: 'RAID level',
  group: 'raid',
  kind: 'choice',
  values: ['5', '10'],
  default: '10',
  source: 'write-up',
};
const DISKS: Knob = {
  key: 'disks',
  label: 'Disks',
  group: 'disks',
  kind: 'number',
  min: 2,
  max: 14,
  step: 1,
  default: 14,
  source: null,
};
const SIZE: Knob = {
  key: 'size',
  label: 'Block size',
  group: 'workload',
  kind: 'choice',
  values: ['4KiB', '8KiB'],
  default: '8KiB',
  source: null,
};
const KNOBS = [SIZE, RAID, DISKS];
const LOAD = { set: { size: '4KiB', pattern: 'random', reads: '100%', span: '2GB', raid: '5', disks: '14' }, fail: [2], labels: ['A-1'] };
const ARRAYS = [{ array: 'md3000', knobs: KNOBS, published: [LOAD] }];

test('a state comes back from its address', () => {
  const state = fromQuery('?array=md3000&raid=5&disks=8&size=4KiB&fail=3,1', ARRAYS);
  assert.deepEqual(state, { array: 'md3000', set: { raid: '5', disks: '8', size: '4KiB' }, fail: [1, 3] });
  assert.deepEqual(fromQuery(toQuery(state), ARRAYS), state);
});

test('an address with nonsense gives the defaults', () => {
  const state = fromQuery('?array=nothing&raid=7&disks=99&colour=red&fail=x', ARRAYS);
  assert.deepEqual(state, { array: 'md3000', set: {}, fail: [] });
});

test('the array is addressed as on the command line, and the workload apart from it', () => {
  const state = fromQuery('?raid=5&disks=8&size=4KiB&fail=2', ARRAYS);
  const of = asked(state, KNOBS);
  assert.equal(of.array, 'array:md3000?raid=5&disks=8');
  assert.deepEqual(of.workload, { pattern: 'random', size: '4KiB', reads: '70%' });
  assert.deepEqual(of.fail, [2]);
});

test('a load with published figures sets what differs from the defaults, and is told in words', () => {
  const [array] = ARRAYS;
  assert.ok(array);
  assert.deepEqual(published(array, LOAD), { array: 'md3000', set: { size: '4KiB', raid: '5' }, fail: [2] });
  assert.equal(loadName(LOAD), 'random, 4KiB, 100% reads, span 2GB; raid 5, disks 14; disk 2 failed');
});

test('a knob that is turned back leaves no trace', () => {
  const state = fromQuery('', ARRAYS);
  assert.deepEqual(turned(turned(state, RAID, '5'), RAID, '10'), state);
  assert.deepEqual(toggled(toggled(state, 3), 3), state);
});

function answer(iops: number): LabAnswer {
  return {
    answer: '',
    reading: '',
    points: [
      { depth: 1, iops: iops / 4, mb_s: 1, mean_us: 1, p50_us: 1, p99_us: 5000, low: null, high: null },
      { depth: 16, iops, mb_s: 4, mean_us: 1, p50_us: 1, p99_us: 20_000_000 / iops, low: null, high: null },
    ],
    knee: 16,
    limit: { part: 'disks', evidence: '' },
    breakdown: [],
    published: [],
    slots: [],
    usable_bytes: 0,
    took_ms: 0,
  };
}

test('a difference is told in words', () => {
  const from = fromQuery('?raid=5', ARRAYS);
  const to = fromQuery('?raid=10&fail=2', ARRAYS);
  assert.deepEqual(changes(from, to, KNOBS), ['RAID level 5 → 10', 'disk 2 failed']);
  assert.equal(
    difference(['RAID level 5 → 10'], answer(1000), answer(2000), 'IOPS'),
    'RAID level 5 → 10: at most 1,000 → 2,000 IOPS (+100 %); p99 at queue depth 16 20.0 ms → 10.0 ms.',
  );
});

test('a campaign has as factors what was changed', () => {
  const toml = campaignOf(fromQuery('?raid=5&disks=8&fail=1', ARRAYS), fromQuery('?disks=8', ARRAYS), KNOBS);
  assert.match(toml, /on {6}= "array:md3000\?disks=8"/);
  assert.match(toml, /^raid = \[10, 5\]$/m);
  assert.match(toml, /^state = \["healthy", "degraded"\]$/m);
});

test('the rebuild that is shown is in the address, of a disk that has failed', () => {
  const state = { array: 'md3000', set: {}, fail: [3] };
  assert.equal(rebuildOf('?array=md3000&fail=3&rebuild=3', state), 3);
  assert.equal(rebuildOf('?array=md3000&fail=3&rebuild=4', state), null);
  assert.equal(rebuildOf('?array=md3000&fail=3', state), null);
});

test('below the rate stands the p99, and the mean where no load has a p99', () => {
  const point = (p99_us: number | null) => ({ depth: 1, iops: 2, mb_s: 1, mean_us: 500, p50_us: 400, p99_us, low: null, high: null });
  const answer = (...tails: (number | null)[]) => ({ points: tails.map(point) }) as unknown as LabAnswer;
  const some = tailOf([answer(null, 900), answer(null)]);
  assert.deepEqual([some.name, some.us(point(900)), some.us(point(null))], ['p99', 900, null]);
  const none = tailOf([answer(null, null)]);
  assert.deepEqual([none.name, none.us(point(null))], ['mean', 500]);
  assert.match(none.axis, /no load has a p99/);
});
