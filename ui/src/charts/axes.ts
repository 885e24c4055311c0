// Axes, grids and tooltips that all charts share.

import { latency, significant } from '../figures.ts';
import type { Palette } from '../parts/echart.tsx';

export function axis(colours: Palette, name: string, more: object = {}): object {
  return {
    name,
    nameTextStyle: { color: colours.faint, fontSize: 12 },
    axisLine: { show: true, lineStyle: { color: colours.faint } },
    axisTick: { lineStyle: { color: colours.faint } },
    axisLabel: { color: colours.ink, fontSize: 12, hideOverlap: true },
    splitLine: { lineStyle: { color: colours.line } },
    minorSplitLine: { show: false },
    ...more,
  };
}

/** The name of an x axis stands below its middle. */
export function below(gap = 26): object {
  return { nameLocation: 'middle', nameGap: gap };
}

/** The name of a y axis stands above it, from the left edge on. */
export const above = { nameLocation: 'end', nameGap: 10 };

export function aboveStyle(colours: Palette): object {
  return { nameTextStyle: { color: colours.faint, fontSize: 12, align: 'left', padding: [0, 0, 0, -44] } };
}

export function tooltip(colours: Palette, more: object = {}): object {
  return {
    confine: true,
    transitionDuration: 0,
    backgroundColor: colours.paper,
    borderColor: colours.line,
    textStyle: { color: colours.ink, fontSize: 13 },
    ...more,
  };
}

/** Ticks of a logarithmic axis of latencies in nanoseconds. */
export const latencyTick = (value: number) => latency(value).replace('.00', '').replace('.0', '');

/** Ticks of an amount: `2,000`, `0.5`. */
export function amountTick(value: number): string {
  if (value === 0) return '0';
  const [divisor, prefix] = value >= 1e6 ? [1e6, ' M'] : value >= 1e4 ? [1e3, ' k'] : [1, ''];
  return significant(value / divisor).replace(/\.0+$/, '') + prefix;
}

/** From 10^a to 10^b around the values. */
export function decades(values: number[]): { min: number; max: number } {
  const positive = values.filter(value => value > 0);
  if (positive.length === 0) return { min: 1, max: 10 };
  const min = 10 ** Math.floor(Math.log10(Math.min(...positive)));
  const max = 10 ** Math.ceil(Math.log10(Math.max(...positive) * 1.0001));
  return { min, max };
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`);
}
