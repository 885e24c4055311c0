import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from '../../src/route.ts';
import { tokenOf } from '../../src/session.ts';

test('every view has its address', () => {
  assert.deepEqual(parse('/', '?search=md&tag=room%3D3'), {
    view: 'runs',
    search: 'md',
    tag: 'room=3',
    published: false,
    selected: [],
  });
  assert.deepEqual(parse('/', '?selected=a,b&published=1'), {
    view: 'runs',
    search: '',
    tag: '',
    published: true,
    selected: ['a', 'b'],
  });
  assert.deepEqual(parse('/plans/quick', '?on=array%3Amd3000&set=depth%3D4&draft=1'), {
    view: 'plan',
    name: 'quick',
    on: 'array:md3000',
    set: 'depth=4',
    tags: '',
    draft: true,
  });
  assert.deepEqual(parse('/runs/20260101-000000-ab12', ''), { view: 'run', run: '20260101-000000-ab12' });
  assert.deepEqual(parse('/jobs/j1', ''), { view: 'job', job: 'j1' });
  assert.deepEqual(parse('/campaigns/raid%20levels', ''), {
    view: 'campaign',
    name: 'raid levels',
    rows: '',
    columns: '',
    figure: '',
  });
  assert.deepEqual(parse('/compare', '?runs=a,b&rows=depth'), {
    view: 'compare',
    runs: ['a', 'b'],
    rows: 'depth',
    columns: '',
    figure: '',
    only: '',
  });
  assert.deepEqual(parse('/new-campaign', '?ready=nas'), {
    view: 'campaign-editor',
    ready: 'nas',
    again: '',
    draft: false,
  });
  assert.deepEqual(parse('/served', ''), { view: 'served' });
  assert.deepEqual(parse('/lab', '?array=md3000&raid=5'), { view: 'lab', query: '?array=md3000&raid=5' });
});

test('what is no address is told, and breaks nothing', () => {
  assert.equal(parse('/nowhere', '').view, 'nothing');
  assert.equal(parse('/runs/a/b', '').view, 'nothing');
  assert.deepEqual(parse('/runs/%zz', ''), { view: 'run', run: '%zz' });
});

test('a token is read from the fragment alone', () => {
  assert.equal(tokenOf('#token=abc123'), 'abc123');
  assert.equal(tokenOf('#other'), null);
  assert.equal(tokenOf(''), null);
});
