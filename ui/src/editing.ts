// Places in a text that is edited.

import type { PlanError } from './contract.ts';

/** A mistake with its place. */
export interface Placed extends PlanError {
  line: number;
  column: number;
}

export function isPlaced(error: PlanError): error is Placed {
  return error.line !== null && error.column !== null;
}

/** The offset of a line and a column, both from 1; columns count characters, not UTF-16 units. */
export function offset(text: string, line: number, column: number): number {
  const lines = text.split('\n');
  const before = lines.slice(0, Math.max(0, line - 1)).reduce((sum, one) => sum + one.length + 1, 0);
  const characters = [...(lines[line - 1] ?? '')].slice(0, Math.max(0, column - 1));
  return Math.min(before + characters.join('').length, text.length);
}

/** The lines that have a mistake. */
export function wrongLines(errors: PlanError[]): Set<number> {
  return new Set(errors.filter(isPlaced).map(error => error.line));
}

/** `text` cut at the places of the errors: pieces that are marked, and those that are not. */
export function marked(text: string, errors: PlanError[]): { text: string; error: boolean }[] {
  const spans = errors
    .filter(isPlaced)
    .map(error => {
      const from = offset(text, error.line, error.column);
      return { from, to: Math.min(text.length, from + Math.max(1, error.length ?? 1)) };
    })
    .sort((one, other) => one.from - other.from);
  const pieces: { text: string; error: boolean }[] = [];
  let at = 0;
  for (const { from, to } of spans) {
    if (from < at) continue;
    pieces.push({ text: text.slice(at, from), error: false }, { text: text.slice(from, to), error: true });
    at = to;
  }
  pieces.push({ text: text.slice(at), error: false });
  return pieces.filter(piece => piece.text !== '');
}

/** `a=1 b=2`, or one on a line, as pairs; what has no `=` is told. */
export function pairs(text: string): { pairs: Record<string, string>; wrong: string[] } {
  const words = text.split(/[\s,]+/).filter(Boolean);
  const good = words.filter(word => word.indexOf('=') > 0);
  return {
    pairs: Object.fromEntries(good.map(word => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)])),
    wrong: words.filter(word => word.indexOf('=') <= 0),
  };
}
