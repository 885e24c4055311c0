import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked, offset, pairs } from '../../src/editing.ts';

test('a place is found by line and column, in characters', () => {
  const text = 'a = 1\nµ𝛼 = 2\n';
  assert.equal(offset(text, 1, 5), 4);
  assert.equal(text.slice(offset(text, 2, 6)), '2\n');
  assert.equal(offset(text, 9, 1), text.length);
});

test('errors are marked at their places, and nothing is lost', () => {
  const text = 'size = "4QiB"\nfoo = 3\n';
  const errors = [
    { line: 2, column: 1, length: 3, message: '' },
    { line: 1, column: 8, length: 6, message: '' },
  ];
  const pieces = marked(text, errors);
  assert.deepEqual(
    pieces.filter(piece => piece.error).map(piece => piece.text),
    ['"4QiB"', 'foo'],
  );
  assert.equal(pieces.map(piece => piece.text).join(''), text);
});

test('two errors at one place are marked once', () => {
  const error = { line: 1, column: 1, length: 2, message: '' };
  assert.equal(
    marked('abc', [error, error])
      .map(piece => piece.text)
      .join(''),
    'abc',
  );
});

test('pairs are read, and what is none is told', () => {
  assert.deepEqual(pairs('depth=32 size=8KiB\nx=a=b nonsense =3'), {
    pairs: { depth: '32', size: '8KiB', x: 'a=b' },
    wrong: ['nonsense', '=3'],
  });
});
