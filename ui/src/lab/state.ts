// What the array lab is set to: an array, its knobs, and the disks that have failed; all of it in the address.

import type { Knob, LabArray, LabAsked, LabWorkload, PublishedLoad } from '../contract.ts';

export interface LabState {
  array: string;
  /** Knobs that differ from their default. */
  set: Record<string, string>;
  fail: number[];
}

export const DEPTHS = [1, 2, 4, 8, 16, 32, 64];
const WORKLOAD: LabWorkload = { pattern: 'random', size: '8KiB', reads: '70%' };
const FIRST = 'md3000';

export function defaultOf(knob: Knob): string {
  return knob.default === null || knob.default === undefined ? '' : String(knob.default);
}

/** The state of an address; what no knob knows, or is the default, is left out. */
export function fromQuery(query: string, arrays: LabArray[]): LabState {
  const of = new URLSearchParams(query);
  const wanted = of.get('array') ?? FIRST;
  const array = arrays.find(array => array.array === wanted) ?? arrays[0];
  const set: Record<string, string> = {};
  for (const knob of array?.knobs ?? []) {
    const value = of.get(knob.key);
    if (value !== null && value !== defaultOf(knob) && allowed(knob, value)) set[knob.key] = value;
  }
  const fail = (of.get('fail') ?? '').split(',').filter(text => /^\d+$/.test(text));
  return { array: array?.array ?? wanted, set, fail: fail.map(Number).sort((one, other) => one - other) };
}

/** The failed disk whose rebuild an address shows; none where it shows none. */
export function rebuildOf(query: string, state: LabState): number | null {
  const text = new URLSearchParams(query).get('rebuild') ?? '';
  return /^\d+$/.test(text) && state.fail.includes(Number(text)) ? Number(text) : null;
}

/** Whether a knob takes a value. */
export function allowed(knob: Knob, value: string): boolean {
  if (knob.kind === 'text') return value !== '' && !/[&#\s]/.test(value);
  if (knob.kind === 'choice') return knob.values?.map(String).includes(value) ?? true;
  const number = Number(value);
  return (
    Number.isFinite(number) &&
    number >= (knob.min ?? Number.NEGATIVE_INFINITY) &&
    number <= (knob.max ?? Number.POSITIVE_INFINITY)
  );
}

export function toQuery(state: LabState): string {
  const query = new URLSearchParams({ array: state.array, ...state.set });
  if (state.fail.length > 0) query.set('fail', state.fail.join(','));
  return `?${query.toString().replaceAll('%2C', ',')}`;
}

/** The state that a load with published figures has; what a knob has as its default is no setting. */
export function published(array: LabArray, load: PublishedLoad): LabState {
  const set: Record<string, string> = {};
  for (const knob of array.knobs) {
    const value = load.set[knob.key];
    if (value !== undefined && value !== defaultOf(knob)) set[knob.key] = value;
  }
  return { array: array.array, set, fail: load.fail };
}

/** Such a load in words: `sequential, 512B, 100% reads, span 2GB; raid 10, protocol nfs3; disk 3 failed`. */
export function loadName(load: PublishedLoad): string {
  const { pattern, size, reads, span, ...options } = load.set;
  const of = [pattern, size, `${reads} reads`, ...(span === 'all' ? [] : [`span ${span}`])].join(', ');
  const array = Object.entries(options).map(([key, value]) => `${key} ${value}`);
  const failed = load.fail.length > 0 ? [`disk ${load.fail.join(', ')} failed`] : [];
  return [of, ...(array.length > 0 ? [array.join(', ')] : []), ...failed].join('; ');
}

/** One knob turned; its default is no setting. */
export function turned(state: LabState, knob: Knob, value: string): LabState {
  const { [knob.key]: _, ...rest } = state.set;
  return { ...state, set: value === defaultOf(knob) ? rest : { ...rest, [knob.key]: value } };
}

/** A disk failed, or replaced. */
export function toggled(state: LabState, slot: number): LabState {
  const fail = state.fail.includes(slot) ? state.fail.filter(other => other !== slot) : [...state.fail, slot];
  return { ...state, fail: fail.sort((one, other) => one - other) };
}

/** The address of the array as the command line takes it. */
export function address(state: LabState, knobs: Knob[]): string {
  const options = knobs
    .filter(knob => knob.group !== 'workload' && state.set[knob.key] !== undefined)
    .map(knob => `${knob.key}=${state.set[knob.key]}`);
  return `array:${state.array}${options.length === 0 ? '' : `?${options.join('&')}`}`;
}

export function workload(state: LabState, knobs: Knob[]): LabWorkload {
  const of = { ...WORKLOAD };
  for (const knob of knobs.filter(knob => knob.group === 'workload')) {
    const value = state.set[knob.key] ?? defaultOf(knob);
    if (knob.key in of ? value !== '' : state.set[knob.key] !== undefined) of[knob.key as keyof LabWorkload] = value;
  }
  if (/^\d+$/.test(of.reads)) of.reads += '%';
  return of;
}

export function asked(state: LabState, knobs: Knob[]): LabAsked {
  return { array: address(state, knobs), workload: workload(state, knobs), depths: DEPTHS, fail: state.fail };
}

/** What differs between two states, in words: `raid 5 → 10`. */
export function changes(from: LabState, to: LabState, knobs: Knob[]): string[] {
  if (from.array !== to.array) return [`${from.array} → ${to.array}`];
  const found = knobs
    .filter(knob => (from.set[knob.key] ?? '') !== (to.set[knob.key] ?? ''))
    .map(
      knob =>
        `${knob.label} ${from.set[knob.key] ?? (defaultOf(knob) || 'default')} → ${to.set[knob.key] ?? (defaultOf(knob) || 'default')}`,
    );
  const failed = to.fail.filter(slot => !from.fail.includes(slot));
  const back = from.fail.filter(slot => !to.fail.includes(slot));
  if (failed.length > 0) found.push(`disk ${failed.join(', ')} failed`);
  if (back.length > 0) found.push(`disk ${back.join(', ')} replaced`);
  return found;
}

/** A campaign that settles it: what was changed last as factors, and the rest as it is. */
export function campaignOf(state: LabState, before: LabState | null, knobs: Knob[]): string {
  const of = workload(state, knobs);
  const was = before?.array === state.array ? before : null;
  const factors: [string, string[]][] = [];
  for (const knob of knobs.filter(knob => knob.group !== 'workload')) {
    const [from, to] = [was?.set[knob.key] ?? defaultOf(knob), state.set[knob.key] ?? defaultOf(knob)];
    if (was && from !== to && from !== '' && to !== '') factors.push([knob.key, [from, to]]);
  }
  if (state.fail.length > 0) factors.push(['state', ['healthy', 'degraded']]);
  if (factors.length === 0) {
    const choices = knobs.filter(knob => knob.group !== 'workload' && (knob.values?.length ?? 0) > 1);
    const knob = choices.find(knob => knob.key === 'raid') ?? choices[0];
    if (knob) factors.push([knob.key, knob.values?.map(String) ?? []]);
  }
  const varied = factors.map(([key]) => key);
  const fixed = {
    ...state,
    set: Object.fromEntries(Object.entries(state.set).filter(([key]) => !varied.includes(key))),
  };
  return [
    `name    = "lab-${state.array}"`,
    `about   = "${state.array}: ${varied.join(', ')}, from the array lab"`,
    `on      = "${address(fixed, knobs)}"`,
    'plans   = ["random"]',
    'repeats = 3',
    '',
    '[set]',
    `pattern = "${of.pattern}"`,
    `size    = "${of.size}"`,
    `reads   = "${of.reads}"`,
    ...(of.span ? [`span    = "${of.span}"`] : []),
    '',
    '[factors]',
    ...factors.map(([key, levels]) => `${key} = [${levels.map(tomlValue).join(', ')}]`),
    '',
  ].join('\n');
}

function tomlValue(level: string): string {
  return /^\d+$/.test(level) ? level : JSON.stringify(level);
}
