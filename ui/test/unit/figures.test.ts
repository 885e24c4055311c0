import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, binary, capacity, change, duration, latency, significant } from '../../src/figures.ts';

test('numbers have three significant digits and are whole from a hundred on', () => {
  const cases: [number, string][] = [
    [0, '0'],
    [0.86016, '0.860'],
    [0.0333, '0.0333'],
    [0.99951, '1.00'],
    [1.234, '1.23'],
    [9.999, '10.0'],
    [20.74, '20.7'],
    [99.96, '100'],
    [210.4, '210'],
    [21631, '21,631'],
    [-1234.4, '−1,234'],
  ];
  for (const [value, text] of cases) assert.equal(significant(value), text);
});

test('what is no number is a dash', () => {
  assert.equal(significant(Number.NaN), '–');
  assert.equal(significant(Number.POSITIVE_INFINITY), '–');
});

test('latencies take the unit they fit', () => {
  assert.equal(latency(999), '999 ns');
  assert.equal(latency(46_200), '46.2 µs');
  assert.equal(latency(4_770_000), '4.77 ms');
  assert.equal(latency(999_900), '1.00 ms');
  assert.equal(latency(2.5e9), '2.50 s');
});

test('durations read as one says them', () => {
  assert.equal(duration(1), '1 s');
  assert.equal(duration(1.5), '1.50 s');
  assert.equal(duration(59.6), '1 min');
  assert.equal(duration(200), '3 min 20 s');
  assert.equal(duration(7500), '2 h 5 min');
  assert.equal(duration(3 * 86400 + 3600), '3 d 1 h');
});

test('ages are relative to now', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  assert.equal(ago('2026-01-01T23:59:58Z', now), 'just now');
  assert.equal(ago('2026-01-01T23:57:00Z', now), '3 minutes ago');
  assert.equal(ago('2026-01-01T00:00:00Z', now), 'yesterday');
});

test('sizes are binary, capacities decimal', () => {
  assert.equal(binary(8192), '8 KiB');
  assert.equal(binary(512), '512 B');
  assert.equal(capacity(1_908_604_272_640), '1.91 TB');
});

test('changes carry their sign', () => {
  assert.equal(change(100, 150), '+50.0 %');
  assert.equal(change(100, 50), '−50.0 %');
  assert.equal(change(100, 100), '± 0 %');
  assert.equal(change(0, 10), '');
});
