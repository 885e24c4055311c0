// Dots with intervals: one row per level, one shape and hue per series. Axis from zero, or logarithmic for latencies.

import type { Draw } from '../parts/echart.tsx';
import { amountTick, axis, below, decades, escaped, latencyTick, tooltip } from './axes.ts';

export interface Dot {
  row: number;
  series: number;
  value: number;
  low: number | null;
  high: number | null;
  text: string;
}

export interface Dots {
  rows: string[];
  series: string[];
  dots: Dot[];
  unit: string;
  log: boolean;
}

/** All of one size: a pin and an arrow of the library are not. */
const CROSS = 'path://M1,0L5,4L9,0L10,1L6,5L10,9L9,10L5,6L1,10L0,9L4,5L0,1Z';
const PLUS = 'path://M4,0L6,0L6,4L10,4L10,6L6,6L6,10L4,10L4,6L0,6L0,4L4,4Z';
const SHAPES = ['circle', 'rect', 'triangle', 'diamond', CROSS, PLUS];
const ROW = 26;
/** A line of a name that is broken. */
const LINE = 15;
const LEGEND_ROW = 20;
const MOST_SERIES = 6;

/** Pixels of a letter of a legend, and those around its name. */
const LETTER = 7;
const AROUND = 40;

/** How many lines the legend takes at a width. A name that is wider than all of it is broken, so that names which begin
 * alike stay apart. */
export function legendLines(series: string[], width: number): number {
  let lines = 1;
  let used = 0;
  for (const name of series) {
    const length = name.length * LETTER + AROUND;
    if (used + length > width && used > 0) {
      lines += 1;
      used = 0;
    }
    lines += Math.max(0, Math.ceil((length - AROUND) / Math.max(width - AROUND, LETTER)) - 1);
    used += Math.min(length, width);
  }
  return series.length > 1 ? lines : 0;
}

/** Where the rows begin, and how many lines the longest name of one takes there. */
function labels(rows: string[], width: number): { left: number; lines: number } {
  const longest = Math.max(...rows.map(row => row.length), 4) * LETTER + 12;
  const left = Math.min(longest, width * 0.42);
  // A line ends before the word that has no room in it.
  const lines = Math.ceil((longest - 12) / Math.max(left - 12, 1));
  return { left, lines: lines > 1 ? lines + 1 : 1 };
}

export function dotsHeight(of: Dots, width: number): number {
  const lines = Math.max(1, Math.min(of.series.length, MOST_SERIES));
  const row = Math.max(ROW, lines * 9 + 8, labels(of.rows, width).lines * LINE + 6);
  return of.rows.length * row + 56 + legendLines(of.series, width) * LEGEND_ROW;
}

export function dotsChart(of: Dots): Draw {
  return (colours, width) => {
    const count = Math.min(of.series.length, MOST_SERIES);
    const { left } = labels(of.rows, width);
    const top = legendLines(of.series, width) * LEGEND_ROW + 8;
    const bounds = of.dots.flatMap(dot => [dot.value, dot.low ?? dot.value, dot.high ?? dot.value]);
    const scale = of.log ? { type: 'log', ...decades(bounds) } : { type: 'value', min: 0 };
    const colour = (series: number) => colours.hues[series % colours.hues.length] ?? colours.ink;
    // Series of one row stand beside each other, so that intervals can be told apart.
    const shift = (series: number) => (series - (count - 1) / 2) * 9;
    return {
      grid: { outerBoundsMode: 'none', left, right: 24, top, bottom: 48 },
      legend: {
        show: of.series.length > 1,
        type: 'plain',
        top: 0,
        left: 0,
        itemWidth: 12,
        itemHeight: 10,
        textStyle: { color: colours.ink, width: width - AROUND, overflow: 'break' },
        data: of.series.slice(0, count).map((name, series) => ({ name, icon: SHAPES[series] ?? 'circle' })),
      },
      tooltip: tooltip(colours, {
        trigger: 'item',
        formatter: (one: { data: { text?: string } }) => escaped(one.data.text ?? ''),
      }),
      xAxis: axis(colours, of.unit, {
        ...below(30),
        ...scale,
        axisLabel: { color: colours.ink, hideOverlap: true, formatter: of.log ? latencyTick : amountTick },
      }),
      yAxis: axis(colours, '', {
        type: 'category',
        data: of.rows,
        inverse: true,
        axisTick: { show: false },
        axisLine: { show: false },
        splitLine: { show: true, lineStyle: { color: colours.line } },
        axisLabel: { color: colours.ink, width: left - 12, overflow: 'break', lineHeight: LINE, interval: 0 },
      }),
      series: of.series.slice(0, count).flatMap((name, series) => {
        const dots = of.dots.filter(dot => dot.series === series);
        return [
          {
            type: 'custom',
            silent: true,
            data: dots.filter(dot => dot.low !== null && dot.high !== null).map(dot => [dot.low, dot.row, dot.high]),
            encode: { x: [0, 2], y: 1 },
            renderItem: (_: unknown, at: { value(of: number): number; coord(of: number[]): number[] }) => {
              const [x1 = 0, y = 0] = at.coord([at.value(0), at.value(1)]);
              const [x2 = 0] = at.coord([at.value(2), at.value(1)]);
              return {
                type: 'line',
                shape: { x1, y1: y + shift(series), x2, y2: y + shift(series) },
                style: { stroke: colour(series), lineWidth: 3, opacity: 0.45 },
              };
            },
          },
          {
            type: 'scatter',
            name,
            symbol: SHAPES[series] ?? 'circle',
            symbolSize: 8,
            symbolOffset: [0, shift(series)],
            itemStyle: { color: colour(series) },
            data: dots.map(dot => ({ value: [dot.value, dot.row], text: dot.text })),
          },
        ];
      }),
    };
  };
}

export { MOST_SERIES };
