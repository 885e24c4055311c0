// A run in progress: the answer rewrites itself as evidence comes.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { liveChart } from '../charts/live.ts';
import type { Ended } from '../contract.ts';
import { follow } from '../events.ts';
import { latency, significant } from '../figures.ts';
import { EChart } from '../parts/echart.tsx';
import { isReal } from '../parts/editor.tsx';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';
import { after, NOTHING, type Progress, place, type RunEvent, sentence } from '../progress.ts';
import type { Point } from '../record.d.ts';
import { token } from '../session.ts';

const MEANING: Record<number, string> = {
  0: 'Done.',
  1: 'Done; an assertion failed.',
  2: 'Not started: the command was not understood. Nothing was touched.',
  3: 'Refused as unsafe. Nothing was touched.',
  4: 'Finished, but a finding makes the result invalid.',
  5: 'I/O errors, or the storage went away.',
  6: 'Data integrity: what was read is not what was written.',
  8: 'Internal error, or the run was not saved.',
  130: 'Stopped; the points that were finished are saved.',
};

/** An exit code that has no meaning of its own: above 128 it is that of a signal. */
function ending(code: number | null): string {
  if (code === null || code <= 128) return `Ended with exit code ${code ?? 'unknown'}.`;
  const signal = code - 128;
  const killed = signal === 9 ? 'Killed' : `Ended by signal ${signal}`;
  return `${killed} (exit code ${code}); the points that were finished are in the list of runs.`;
}

export function JobView({ job }: { job: string }) {
  const about = useLoad(() => api.job(job), [job]);
  const [progress, setProgress] = useState<Progress>(NOTHING);
  const [ended, setEnded] = useState<Ended | null>(null);
  const [lost, setLost] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [stopping, setStopping] = useState(false);
  const state = useRef<Progress>(NOTHING);
  const plan = about.value?.plan ?? job;
  const virtual = about.value !== null && !isReal(about.value.on);
  useTitle(`${plan}, ${ended ? 'ended' : 'in progress'}`);

  useEffect(() => {
    if (!about.value || about.value.campaign) return;
    // Events may come by the thousand at once; the page is drawn for what they come to.
    return follow(
      `/api/jobs/${encodeURIComponent(job)}/events`,
      events => {
        for (const { event, data } of events) {
          const read = JSON.parse(data) as RunEvent & Ended;
          if (event === 'end') setEnded(read);
          else state.current = after(state.current, { ...read, event: read.event ?? event });
        }
        setProgress(state.current);
      },
      setLost,
    );
  }, [job, about.value]);

  const draw = useMemo(() => liveChart(progress), [progress]);
  const errors = progress.errorsBefore + progress.errors;

  function stop(): void {
    setStopping(true);
    api.stop(job).catch(error => {
      setStopping(false);
      setError(error);
    });
  }

  if (about.value?.campaign) {
    return (
      <section>
        <h1>{about.value.campaign}</h1>
        <p>
          This is a campaign: <a href={`/campaigns/${encodeURIComponent(about.value.campaign)}`}>its cells</a>
        </p>
      </section>
    );
  }
  return (
    <section class="wide-view">
      <h1>
        {plan} {about.value && <span class="faint">on {about.value.on.join(', ')}</span>}
      </h1>
      <p class="answer" role="status" aria-live="polite">
        {ended ? (MEANING[ended.code ?? -1] ?? ending(ended.code)) : sentence(progress)}
      </p>
      <p class="faint place">{ended ? `${progress.points.length} points measured` : place(progress, virtual) || ' '}</p>
      {progress.of > 0 && (
        <progress
          max={progress.of}
          value={ended ? progress.points.length : progress.index + share(progress)}
          aria-label="Points measured"
        />
      )}
      <div class="tools">
        {!ended && token() !== null && (
          <button type="button" onClick={stop} disabled={stopping}>
            {stopping ? 'Stopping …' : 'Stop; keep what is finished'}
          </button>
        )}
        {ended?.run && (
          <a class="first button" href={`/runs/${ended.run}`}>
            Show the run
          </a>
        )}
        {errors > 0 && <span class="limit">{errors.toLocaleString('en-US')} I/O errors</span>}
        {lost && !ended && <span class="limit">Connection lost; trying again. The run continues.</span>}
      </div>
      <Failure error={about.error ?? error} />
      {ended && ended.code !== 0 && ended.stderr !== '' && <pre>{ended.stderr.trim()}</pre>}
      <h2>Rate and latency, second by second</h2>
      <EChart draw={draw} height={380} label={`Rate and 99th percentile over time. ${sentence(progress)}`} />
      {progress.points.length > 0 && <Finished points={progress.points} />}
    </section>
  );
}

/** How much of the present point is over, from its expected length. */
function share(progress: Progress): number {
  const expected = progress.expectedS[progress.index] ?? 0;
  return expected > 0 ? Math.min(0.99, (progress.nowS - progress.startedS) / expected) : 0;
}

function Finished({ points }: { points: Point[] }) {
  return (
    <>
      <h2>Finished points</h2>
      <Scroll label="Table of finished points">
        <table class="list">
          <thead>
            <tr>
              <th>Point</th>
              <th class="n">IOPS</th>
              <th class="n">MB/s</th>
              <th class="n">mean</th>
              <th class="n">p99</th>
            </tr>
          </thead>
          <tbody>
            {points.map(point => {
              const summary = point.workloads[0]?.summary[0];
              const p99 = summary?.response?.quantiles.find(quantile => quantile.q === 0.99);
              return (
                <tr key={`${point.index} ${point.repeat}`}>
                  <td class="name">{point.name}</td>
                  <td class="n">{summary ? significant(summary.ops_per_s.value) : '–'}</td>
                  <td class="n">{summary ? significant(summary.bytes_per_s.value / 1e6) : '–'}</td>
                  <td class="n">{summary?.response ? latency(summary.response.mean_ns) : '–'}</td>
                  <td class="n">{p99 ? latency(p99.value_ns) : ''}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
