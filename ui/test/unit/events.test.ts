import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser } from '../../src/events.ts';

test('events are whole however the stream is cut', () => {
  const stream =
    ': heartbeat\n\nid: 1\nevent: live\ndata: {"ops":1}\n\nid: 2\nevent: end\ndata: {"code":0,\ndata: "run":null}\n\n';
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const parser = new EventParser();
    const events = [...parser.push(stream.slice(0, cut)), ...parser.push(stream.slice(cut))];
    assert.deepEqual(events, [
      { id: '1', event: 'live', data: '{"ops":1}' },
      { id: '2', event: 'end', data: '{"code":0,\n"run":null}' },
    ]);
  }
});

test('an event that is not finished is not told', () => {
  assert.deepEqual(new EventParser().push('id: 1\ndata: half\n'), []);
});
