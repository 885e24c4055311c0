// The load curve of the lab: rate against queue depth, and below it the 99th percentile. Published and measured points
// stand on it, the curve before the last change is its ghost.

import type { PublishedFigure, LabAnswer, LabPoint } from '../contract.ts';
import { latency, significant } from '../figures.ts';
import { type Measure, rateOf } from '../lab/difference.ts';
import type { Draw } from '../parts/echart.tsx';
import { above, aboveStyle, amountTick, axis, below, decades, escaped, latencyTick, tooltip } from './axes.ts';

/** What a figure of others is worth on the chart's axis; none where it is another figure. */
export function heldRate(held: PublishedFigure, measure: Measure): number | null {
  // What is not known is left out of the answer.
  return (measure === 'IOPS' ? held.iops : held.mb_s) ?? null;
}

/** The measure that published figures have, where they have not the usual one. */
export function heldMeasure(held: PublishedFigure[], usual: Measure): Measure {
  const has = (measure: Measure) => held.some(one => heldRate(one, measure) !== null);
  const other: Measure = usual === 'IOPS' ? 'MB/s' : 'IOPS';
  return !has(usual) && has(other) ? other : usual;
}

export interface Tail {
  /** What the axis is called. */
  axis: string;
  /** What a point of it is called. */
  name: string;
  us(point: LabPoint): number | null;
}

/** The response time that is drawn below the rate: the p99, or the mean where no load has requests enough for a p99. */
export function tailOf(answers: LabAnswer[]): Tail {
  const has = answers.some(answer => answer.points.some(point => point.p99_us !== null));
  return has
    ? { axis: 'p99 response time', name: 'p99', us: point => point.p99_us }
    : { axis: 'mean response time (no load has a p99)', name: 'mean', us: point => point.mean_us };
}

const RATE_HEIGHT = 230;
const TAIL_HEIGHT = 110;
export const LOAD_HEIGHT = 28 + RATE_HEIGHT + 52 + TAIL_HEIGHT + 48;

export function loadChart(answer: LabAnswer, ghost: LabAnswer | null, measure: Measure): Draw {
  return (colours, width) => {
    const [hue = '', second = '', third = ''] = colours.hues;
    const depths = answer.points.map(point => point.depth);
    const bounds = { min: Math.min(1, ...depths), max: Math.max(2, ...depths) };
    const curve = (of: LabAnswer) => of.points.map(point => [point.depth, rateOf(point, measure)]);
    const shown = tailOf(ghost ? [answer, ghost] : [answer]);
    const tail = (of: LabAnswer) =>
      of.points.filter(point => shown.us(point) !== null).map(point => [point.depth, (shown.us(point) ?? 0) * 1000]);
    const held = answer.published.filter(one => heldRate(one, measure) !== null);
    const placed = held.filter(one => one.depth !== null && one.depth >= bounds.min && one.depth <= bounds.max);
    const loose = held.filter(one => one.depth === null);
    const tails = [...tail(answer), ...(ghost ? tail(ghost) : [])];
    const scale =
      measure === 'IOPS'
        ? 1
        : answer.points[0] && answer.points[0].iops > 0
          ? answer.points[0].mb_s / answer.points[0].iops
          : 1;
    const band = answer.points.filter(point => point.low !== null && point.high !== null);
    const log2 = { type: 'log', logBase: 2, ...bounds, splitLine: { show: false } };
    const last = answer.points[answer.points.length - 1];
    const lastGhost = ghost?.points[ghost.points.length - 1];
    const line = (colour: string, type: 'solid' | 'dashed' | 'dotted', name: string) => ({
      symbol: 'none',
      silent: true,
      animation: false,
      lineStyle: { color: colour, type, width: 1 },
      label: { show: true, formatter: name, color: colour, fontSize: 11 },
    });
    const knee =
      answer.knee === null
        ? []
        : [
            {
              xAxis: answer.knee,
              label: {
                position: 'end',
                formatter: `knee at ${answer.knee}`,
                rotate: 0,
                align: 'left',
              },
            },
          ];
    const claimed = width < 420 ? loose.slice(0, 1) : loose.slice(0, 3);
    return {
      grid: [
        { outerBoundsMode: 'none', left: 60, right: 64, top: 28, height: RATE_HEIGHT },
        { outerBoundsMode: 'none', left: 60, right: 64, top: 28 + RATE_HEIGHT + 52, height: TAIL_HEIGHT },
      ],
      xAxis: [
        axis(colours, '', { ...log2, gridIndex: 0, axisLabel: { color: colours.ink, formatter: amountTick } }),
        axis(colours, 'queue depth', {
          ...log2,
          ...below(),
          gridIndex: 1,
          axisLabel: { color: colours.ink, formatter: amountTick },
        }),
      ],
      yAxis: [
        axis(colours, measure, {
          ...above,
          ...aboveStyle(colours),
          min: 0,
          splitNumber: 4,
          axisLabel: { color: colours.ink, formatter: amountTick },
        }),
        axis(colours, shown.axis, {
          ...above,
          ...aboveStyle(colours),
          type: 'log',
          gridIndex: 1,
          ...decades(tails.map(point => point[1] ?? 0)),
          axisLabel: { color: colours.ink, formatter: latencyTick },
        }),
      ],
      tooltip: tooltip(colours, {
        trigger: 'item',
        formatter: (one: { data: unknown; seriesName: string; value: number[] }) => {
          const told = (one.data as { told?: string }).told;
          if (told) return escaped(told);
          const [depth = 0, value = 0] = one.value;
          const text = one.seriesName.startsWith(shown.name) ? latency(value) : `${significant(value)} ${measure}`;
          return `${escaped(one.seriesName)}<br>queue depth ${depth}: ${text}`;
        },
      }),
      series: [
        ...(ghost
          ? [
              {
                type: 'line',
                name: 'before',
                data: curve(ghost),
                symbol: 'none',
                lineStyle: { color: colours.faint, width: 1.5, type: 'dashed' },
                endLabel: {
                  show: apart(last, lastGhost, answer, ghost, measure),
                  formatter: 'before',
                  color: colours.faint,
                  fontSize: 12,
                },
              },
              {
                type: 'line',
                name: `${shown.name} before`,
                data: tail(ghost),
                xAxisIndex: 1,
                yAxisIndex: 1,
                symbol: 'none',
                lineStyle: { color: colours.faint, width: 1.5, type: 'dashed' },
              },
            ]
          : []),
        {
          type: 'custom',
          silent: true,
          data: band.map(point => [point.depth, (point.low ?? 0) * scale, (point.high ?? 0) * scale]),
          encode: { x: 0, y: [1, 2] },
          renderItem: (_: unknown, at: { value(of: number): number; coord(of: number[]): number[] }) => {
            const [x = 0, y1 = 0] = at.coord([at.value(0), at.value(1)]);
            const [, y2 = 0] = at.coord([at.value(0), at.value(2)]);
            return {
              type: 'line',
              shape: { x1: x, y1, x2: x, y2 },
              style: { stroke: hue, lineWidth: 3, opacity: 0.45 },
            };
          },
        },
        {
          type: 'line',
          name: 'now',
          data: curve(answer),
          symbol: 'circle',
          symbolSize: 6,
          itemStyle: { color: hue },
          lineStyle: { color: hue, width: 2 },
          endLabel: { show: true, formatter: 'now', color: hue, fontSize: 12, fontWeight: 600 },
          markLine: { ...line(colours.faint, 'dotted', ''), data: knee },
        },
        {
          type: 'line',
          name: 'claims',
          data: [],
          markLine: {
            ...line(second, 'dashed', ''),
            data: claimed.map(one => ({
              yAxis: heldRate(one, measure) ?? 0,
              label: {
                position: 'insideStartTop',
                formatter: short(
                  `${one.kind}: ${significant(heldRate(one, measure) ?? 0)}, ${one.label}`,
                  Math.floor((width - 140) / 6.2),
                ),
              },
            })),
          },
        },
        ...(['published', 'measured'] as const).map(kind => ({
          type: 'scatter',
          name: kind,
          symbol: kind === 'published' ? 'diamond' : 'triangle',
          symbolSize: 11,
          itemStyle: { color: kind === 'published' ? second : third },
          data: placed
            .filter(one => one.kind === kind)
            .map(one => ({
              value: [one.depth, heldRate(one, measure)],
              told: `${kind}: ${one.label}, ${significant(heldRate(one, measure) ?? 0)} ${measure} at queue depth ${one.depth}. ${one.source}`,
            })),
        })),
        {
          type: 'line',
          name: `${shown.name} now`,
          data: tail(answer),
          xAxisIndex: 1,
          yAxisIndex: 1,
          symbol: 'rect',
          symbolSize: 5,
          itemStyle: { color: hue },
          lineStyle: { color: hue, width: 2 },
        },
      ],
    };
  };
}

/** Whether the ends of both curves are far enough from each other for two labels. */
function apart(
  now: LabAnswer['points'][number] | undefined,
  was: LabAnswer['points'][number] | undefined,
  answer: LabAnswer,
  ghost: LabAnswer,
  measure: Measure,
): boolean {
  if (!now || !was) return false;
  const most = Math.max(...[...answer.points, ...ghost.points].map(point => rateOf(point, measure)));
  return Math.abs(rateOf(now, measure) - rateOf(was, measure)) > most * 0.08;
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, Math.max(4, most - 1))}…` : text;
}
