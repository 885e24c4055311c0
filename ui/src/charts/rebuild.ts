// A rebuild: percent over time, and below it what is left for the foreground.

import type { Rebuild } from '../contract.ts';
import { duration, significant } from '../figures.ts';
import type { Draw } from '../parts/echart.tsx';
import { above, aboveStyle, amountTick, axis, below, tooltip } from './axes.ts';

export const REBUILD_HEIGHT = 260;

/** Drawn up to `until` seconds; the axes are those of the whole from the start, so that nothing jumps. */
export function rebuildChart(rebuild: Rebuild, until: number): Draw {
  return colours => {
    const [hue, second] = colours.hues;
    const healthy = rebuild.healthy?.iops ?? null;
    const seconds = rebuild.seconds ?? rebuild.points[rebuild.points.length - 1]?.at_s ?? 1;
    const shown = rebuild.points.filter(point => point.at_s <= until);
    const [divisor, unit] = seconds >= 7200 ? [3600, 'hours'] : seconds >= 180 ? [60, 'minutes'] : [1, 'seconds'];
    const most = Math.max(1, healthy ?? 0, ...rebuild.points.map(point => point.foreground_iops ?? 0));
    const time = { type: 'value', min: 0, max: seconds / divisor, splitLine: { show: false } };
    const at = (point: { at_s: number }) => point.at_s / divisor;
    return {
      grid: [
        { outerBoundsMode: 'none', left: 60, right: 20, top: 28, height: 70 },
        { outerBoundsMode: 'none', left: 60, right: 20, top: 138, height: 70 },
      ],
      xAxis: [
        axis(colours, '', { ...time, gridIndex: 0, axisLabel: { show: false } }),
        axis(colours, unit, {
          ...time,
          ...below(),
          gridIndex: 1,
          axisLabel: { color: colours.ink, formatter: amountTick, showMaxLabel: false },
        }),
      ],
      yAxis: [
        axis(colours, 'rebuilt, %', { ...above, ...aboveStyle(colours), min: 0, max: 100, interval: 50 }),
        axis(colours, 'foreground IOPS', {
          ...above,
          ...aboveStyle(colours),
          gridIndex: 1,
          min: 0,
          max: niceTop(most),
          splitNumber: 2,
          axisLabel: { color: colours.ink, formatter: amountTick },
        }),
      ],
      tooltip: tooltip(colours, {
        trigger: 'axis',
        formatter: (of: { value: [number, number]; seriesIndex: number }[]) =>
          of
            .map(
              one =>
                `${duration(one.value[0] * divisor)}: ${significant(one.value[1])} ${one.seriesIndex === 0 ? '%' : 'IOPS'}`,
            )
            .join('<br>'),
      }),
      series: [
        {
          type: 'line',
          data: shown.map(point => [at(point), point.percent]),
          symbol: 'none',
          lineStyle: { color: hue, width: 2 },
          itemStyle: { color: hue },
        },
        {
          type: 'line',
          data: shown.map(point => [at(point), point.foreground_iops]),
          xAxisIndex: 1,
          yAxisIndex: 1,
          symbol: 'none',
          itemStyle: { color: second },
          lineStyle: { color: second, width: 2 },
          markLine:
            healthy === null
              ? undefined
              : {
                  symbol: 'none',
                  silent: true,
                  lineStyle: { color: colours.faint, type: 'dotted', width: 1 },
                  label: { position: 'insideEndTop', formatter: 'healthy', color: colours.faint, fontSize: 11 },
                  data: [{ yAxis: healthy }],
                },
        },
      ],
    };
  };
}

/** The next of 1, 2, 5 × 10ⁿ. */
export function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find(step => step * power >= most) ?? 10) * power;
}
