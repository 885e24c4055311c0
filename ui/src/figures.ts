// Numbers as a reader wants them: three significant digits, whole where they are large, the unit once.

const MINUS = '\u2212';

/** Three significant digits; from 100 on whole, with thousands set off: `0.86`, `20.7`, `3,411`. */
export function significant(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return '–';
  if (size === 0) return '0';
  const sign = value < 0 ? MINUS : '';
  if (size >= 99.95) {
    return sign + Math.round(size).toLocaleString('en-US');
  }
  const digits = size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 2 - Math.floor(Math.log10(size) + 1e-9);
  return sign + size.toFixed(Math.min(digits, 6));
}

const TIMES: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

/** A latency: `4.77 ms`. */
export function latency(ns: number): string {
  const [factor, unit] = TIMES.find(([factor]) => ns >= factor * 0.9995) ?? [1, 'ns'];
  return `${significant(ns / factor)} ${unit}`;
}

/** A length of time as one says it: `48 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${Number.isInteger(seconds) ? seconds : significant(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const AGES: [number, Intl.RelativeTimeFormatUnit][] = [
  [365 * 86400, 'year'],
  [30 * 86400, 'month'],
  [7 * 86400, 'week'],
  [86400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** How long ago: `3 minutes ago`; the date itself belongs beside it. */
export function ago(date: string, now: number = Date.now()): string {
  const seconds = (Date.parse(date) - now) / 1000;
  const [length, unit] = AGES.find(([length]) => Math.abs(seconds) >= length) ?? [1, 'second'];
  if (unit === 'second' && Math.abs(seconds) < 10) return 'just now';
  return relative.format(Math.trunc(seconds / length), unit);
}

/** `2026-11-23 20:59` in UTC, as `fathom ls` has it. */
export function utc(date: string): string {
  const parsed = new Date(date);
  return Number.isNaN(parsed.getTime()) ? date : parsed.toISOString().slice(0, 16).replace('T', ' ');
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const DECIMAL = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

function scaled(bytes: number, step: number, units: string[]): string {
  let power = 0;
  let value = bytes;
  while (value >= step && power < units.length - 1) {
    value /= step;
    power += 1;
  }
  return `${significant(value).replace(/\.0+$/, '')} ${units[power]}`;
}

/** A block size: powers of 1024. */
export function binary(bytes: number): string {
  return scaled(bytes, 1024, BINARY);
}

/** A capacity, as vendors count: powers of 1000. */
export function capacity(bytes: number): string {
  return scaled(bytes, 1000, DECIMAL);
}

/** A share with its sign, for changes: `+12 %`, `−50 %`. */
export function change(from: number, to: number): string {
  const percent = (to / from - 1) * 100;
  if (!Number.isFinite(percent)) return '';
  if (Math.abs(percent) < 0.05) return '± 0 %';
  return `${percent > 0 ? '+' : ''}${significant(percent)} %`;
}

/** Natural order: `RAID 5` before `RAID 10`. */
export const natural = new Intl.Collator('en', { numeric: true }).compare;
