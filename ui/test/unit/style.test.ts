import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scoped } from '../../src/scoped.ts';

test('the style of a page becomes that of a shadow root', () => {
  const css = scoped(
    ':root{--a:1}\n@media print{:root{--a:2}body{margin:0}}\nbody{margin:0}\n.body{x:y}\nh1,body{a:b}',
  );
  assert.doesNotMatch(css, /:root/);
  assert.match(css, /:host\{--a:1\}/);
  assert.match(css, /print\{:host\{--a:2\}:host\{margin:0\}\}/);
  assert.match(css, /\.body\{x:y\}/);
  assert.match(css, /h1,:host\{a:b\}/);
});
