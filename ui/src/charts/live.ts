// The rate over time, and below it the 99th percentile of each interval.

import { latency, significant } from '../figures.ts';
import type { Draw } from '../parts/echart.tsx';
import type { Progress } from '../progress.ts';
import { above, aboveStyle, amountTick, axis, below, decades, escaped, latencyTick, tooltip } from './axes.ts';

/** A line does not join two points: what lies between them was not measured. */
function cut(progress: Progress, samples: [number, number][]): [number, number | null][] {
  const breaks = progress.marks.map((mark): [number, null] => [mark.at, null]);
  return [...samples, ...breaks].sort((one, other) => one[0] - other[0]);
}

export function liveChart(progress: Progress): Draw {
  return (colours, width) => {
    const rate = cut(
      progress,
      progress.samples.map((sample): [number, number] => [sample.at, sample.iops]),
    );
    const tail = progress.samples.flatMap((sample): [number, number][] =>
      sample.p99Ns === null ? [] : [[sample.at, sample.p99Ns]],
    );
    const [line, second] = [colours.hues[0], colours.hues[1]];
    const first = progress.samples[0]?.at ?? 0;
    const from = first < 30 ? 0 : first;
    const time = {
      type: 'value',
      min: Math.floor(from),
      max: Math.max(Math.ceil(progress.nowS), Math.floor(from) + 10),
      splitLine: { show: false },
    };
    const points = progress.samples.length < 300;
    return {
      grid: [
        { outerBoundsMode: 'none', left: 56, right: 20, top: 28, height: 150 },
        { outerBoundsMode: 'none', left: 56, right: 20, top: 232, height: 100 },
      ],
      xAxis: [
        axis(colours, '', { ...time, gridIndex: 0, axisLabel: { show: false } }),
        axis(colours, 'seconds since the start', { ...time, ...below(), gridIndex: 1 }),
      ],
      yAxis: [
        axis(colours, 'IOPS', {
          ...above,
          ...aboveStyle(colours),
          min: 0,
          splitNumber: 4,
          axisLabel: { color: colours.ink, formatter: amountTick },
        }),
        axis(colours, 'p99 of the interval', {
          ...above,
          ...aboveStyle(colours),
          type: 'log',
          gridIndex: 1,
          ...decades(tail.map(sample => sample[1])),
          axisLabel: { color: colours.ink, formatter: latencyTick },
        }),
      ],
      axisPointer: { link: [{ xAxisIndex: 'all' }] },
      tooltip: tooltip(colours, {
        trigger: 'axis',
        formatter: (shown: { seriesIndex: number; value: [number, number] }[]) => {
          const first = shown[0];
          if (!first) return '';
          const mark = progress.marks.filter(mark => mark.at <= first.value[0]).pop();
          const lines = shown.map(one =>
            one.seriesIndex === 0 ? `${significant(one.value[1])} IOPS` : `p99 ${latency(one.value[1])}`,
          );
          return [`${Math.round(first.value[0])} s`, escaped(mark?.name ?? ''), ...lines].join('<br>');
        },
      }),
      series: [
        {
          type: 'line',
          data: rate,
          symbol: 'circle',
          symbolSize: 4,
          showSymbol: points,
          itemStyle: { color: line },
          lineStyle: { color: line, width: 1.5 },
          markLine: {
            symbol: 'none',
            silent: true,
            lineStyle: { color: colours.faint, type: 'dotted', width: 1 },
            label: { color: colours.faint, position: 'insideEndTop', rotate: 0, show: false },
            data: width > 0 ? progress.marks.filter(mark => mark.at >= from).map(mark => ({ xAxis: mark.at })) : [],
          },
        },
        {
          type: 'line',
          data: cut(progress, tail),
          xAxisIndex: 1,
          yAxisIndex: 1,
          symbol: 'rect',
          symbolSize: 4,
          showSymbol: points,
          itemStyle: { color: second },
          lineStyle: { color: second, width: 1.5 },
        },
      ],
    };
  };
}
