// Two answers of the lab compared, in words.

import type { LabAnswer, LabPoint } from '../contract.ts';
import { change, latency, significant } from '../figures.ts';

/** Whether throughput or IOPS is what a reader looks at: streams and large blocks are told in MB/s. */
export type Measure = 'IOPS' | 'MB/s';

export function rateOf(point: LabPoint, measure: Measure): number {
  return measure === 'IOPS' ? point.iops : point.mb_s;
}

export function best(answer: LabAnswer, measure: Measure): LabPoint | null {
  return answer.points.reduce<LabPoint | null>(
    (most, point) => (most === null || rateOf(point, measure) > rateOf(most, measure) ? point : most),
    null,
  );
}

/** `RAID level 5 → 10: at most 1,090 → 2,180 IOPS (+100 %); p99 at queue depth 32 19.0 ms → 9.10 ms.` */
export function difference(changes: string[], before: LabAnswer, now: LabAnswer, measure: Measure): string {
  const [was, is] = [best(before, measure), best(now, measure)];
  if (!was || !is) return '';
  const head = changes.length > 0 ? `${changes.join(', ')}: ` : '';
  const [from, to] = [rateOf(was, measure), rateOf(is, measure)];
  const rate = `at most ${significant(from)} → ${significant(to)} ${measure} (${change(from, to)})`;
  const depth = now.knee ?? is.depth;
  const tail = (answer: LabAnswer) => answer.points.find(point => point.depth === depth)?.p99_us ?? null;
  const [tailBefore, tailNow] = [tail(before), tail(now)];
  const p99 =
    tailBefore === null || tailNow === null
      ? ''
      : `; p99 at queue depth ${depth} ${latency(tailBefore * 1000)} → ${latency(tailNow * 1000)}`;
  const limit =
    before.limit && now.limit && before.limit.part !== now.limit.part
      ? `; the bottleneck moves from ${before.limit.part} to ${now.limit.part}`
      : '';
  const text = `${head}${rate}${p99}${limit}.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
