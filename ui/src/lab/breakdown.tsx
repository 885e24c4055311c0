// Where the time of a request goes, part by part in path order.

import { useState } from 'preact/hooks';
import type { LabAnswer } from '../contract.ts';
import { latency, significant } from '../figures.ts';
import { Scroll } from '../parts/scroll.tsx';

const HUES = 6;
/** Segments below this share are named with the others that are small. */
const SMALL = 0.01;

export function Breakdown({ answer }: { answer: LabAnswer }) {
  const [chosen, choose] = useState<number | null>(null);
  const depths = answer.breakdown.map(one => one.depth);
  const wanted = chosen ?? answer.knee ?? depths[depths.length - 1] ?? 0;
  const shown = answer.breakdown.find(one => one.depth === wanted) ?? answer.breakdown[answer.breakdown.length - 1];
  if (!shown) return null;
  const total = shown.parts.reduce((sum, part) => sum + part.waiting_us + part.service_us, 0);
  const share = (us: number) => (total > 0 ? us / total : 0);
  const largest = shown.parts.reduce(
    (most, part) => (part.waiting_us + part.service_us > most.waiting_us + most.service_us ? part : most),
    {
      part: '',
      waiting_us: 0,
      service_us: 0,
    },
  );
  const small = shown.parts
    .filter(part => {
      const whole = share(part.waiting_us + part.service_us);
      return whole > 0 && whole < SMALL;
    })
    .map(part => part.part);
  return (
    <section class="breakdown" aria-labelledby="breakdown-title">
      <h2 id="breakdown-title">Where the time goes</h2>
      <p>
        Of a mean of {latency(total * 1000)} at queue depth {shown.depth},{' '}
        {significant(share(largest.waiting_us + largest.service_us) * 100)} % is spent at {largest.part}.
      </p>
      {depths.length > 1 && (
        <label class="inline">
          Queue depth
          <select value={shown.depth} onChange={event => choose(Number(event.currentTarget.value))}>
            {depths.map(depth => (
              <option key={depth} value={depth}>
                {depth}
              </option>
            ))}
          </select>
        </label>
      )}
      <div class="bar" role="img" aria-label="Latency breakdown; the table below has the figures">
        {shown.parts.map((part, at) => {
          const whole = share(part.waiting_us + part.service_us);
          if (whole <= 0) return null;
          return (
            <span
              key={part.part}
              class="part"
              style={{ '--hue': `var(--hue-${at % HUES})`, flexGrow: whole }}
              title={`${part.part}: ${latency((part.waiting_us + part.service_us) * 1000)}`}
            >
              <span class="service" style={{ flexGrow: part.service_us }} />
              <span class="waiting" style={{ flexGrow: part.waiting_us }} />
            </span>
          );
        })}
      </div>
      <ul class="legend">
        {shown.parts.map((part, at) => {
          const whole = share(part.waiting_us + part.service_us);
          if (whole < SMALL) return null;
          return (
            <li key={part.part}>
              <span class="key" style={{ '--hue': `var(--hue-${at % HUES})` }} aria-hidden="true" /> {part.part},{' '}
              {significant(whole * 100)} %
            </li>
          );
        })}
        {small.length > 0 && <li class="faint">below 1 % each: {small.join(', ')}</li>}
      </ul>
      <p class="faint subtitle">Solid: in service. Hatched: waiting.</p>
      <details>
        <summary>Table: mean time at each part</summary>
        <Scroll label="Table of the latency breakdown">
          <table class="list">
            <thead>
              <tr>
                <th>Part</th>
                <th class="n">waiting, µs</th>
                <th class="n">in service, µs</th>
              </tr>
            </thead>
            <tbody>
              {shown.parts.map(part => (
                <tr key={part.part}>
                  <td class="name">{part.part}</td>
                  <td class="n">{significant(part.waiting_us)}</td>
                  <td class="n">{significant(part.service_us)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </section>
  );
}
