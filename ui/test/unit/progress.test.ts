import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, NOTHING, type Progress, place, type RunEvent, remaining, sentence, soFar } from '../../src/progress.ts';

function live(second: number, ops: number, more: object = {}): RunEvent {
  return {
    event: 'live',
    index: 0,
    now_ns: second * 1e9,
    ops,
    errors: 0,
    in_flight: 1,
    doing: 'load',
    done: null,
    response_p99_ns: 5_000_000,
    ...more,
  } as RunEvent;
}

const started = { event: 'point-started', index: 0, of: 4, name: 'reads', expected_ns: 10e9 } as RunEvent;

function run(events: RunEvent[]): Progress {
  return events.reduce(after, NOTHING);
}

test('a rate is what was counted between two events', () => {
  const progress = run([started, live(1, 200), live(2, 500), live(3, 600)]);
  assert.deepEqual(
    progress.samples.map(sample => sample.iops),
    [300, 100],
  );
});

test('events that come faster than once a second are put together', () => {
  const progress = run([started, ...Array.from({ length: 40 }, (_, at) => live((at + 1) / 10, (at + 1) * 10))]);
  assert.equal(progress.samples.length, 3);
  for (const sample of progress.samples) assert.ok(Math.abs(sample.iops - 100) < 1e-6);
});

test('a rest before a point is not taken for a slow start', () => {
  const progress = run([started, live(30, 50), live(31, 150)]);
  assert.deepEqual(
    progress.samples.map(sample => sample.iops),
    [100],
  );
});

test('the rest is that of this point and of those to come', () => {
  const progress = run([started, live(0, 0), live(4, 100)]);
  assert.equal(remaining(progress), 6 + 3 * 10);
  assert.match(place(progress, false), /^Point 1 of 4: reads, about 36 s left/);
  assert.match(place(progress, true), /about 36 s of the array's own time, which passes faster, left/);
});

test('a rate that falls is not called steady', () => {
  const steady = run([started, ...[1, 2, 3, 4, 5, 6, 7, 8].map(second => live(second, second * 100))]);
  assert.equal(soFar(steady)?.steady, 'yes');
  assert.match(sentence(steady), /^So far 100 IOPS ± 0 % at a p99 of 5.00 ms\.$/);
  const counted = [1000, 1500, 1830, 2080, 2280, 2450, 2590, 2720];
  const falling = run([started, ...counted.map((ops, second) => live(second + 1, ops))]);
  assert.equal(soFar(falling)?.steady, 'falling');
  assert.match(sentence(falling), /still falling/);
});

test('errors of all points are counted together', () => {
  const next = { event: 'point-started', index: 1, of: 4, name: 'writes', expected_ns: null } as RunEvent;
  const progress = run([started, live(1, 10, { errors: 3 }), next, live(2, 5, { index: 1, errors: 2 })]);
  assert.equal(progress.errorsBefore + progress.errors, 5);
});

test('unknown events change nothing', () => {
  assert.equal(after(NOTHING, { event: 'something-new' }), NOTHING);
});
