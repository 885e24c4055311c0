// Runs that were started from this page.

import { useEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { Job } from '../contract.ts';
import { ago, utc } from '../figures.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';

export function JobsView() {
  useTitle('In progress');
  const [turn, next] = useState(0);
  const { value, error } = useLoad(() => api.jobs(), [turn]);
  useEffect(() => {
    const timer = setInterval(() => next(turn => turn + 1), 3000);
    return () => clearInterval(timer);
  }, []);
  return (
    <section>
      <h1>In progress</h1>
      <Failure error={error} />
      {value?.length === 0 && (
        <p>
          Nothing was started from this page. Choose a <a href="/plans">plan</a> to measure with.
        </p>
      )}
      {value && value.length > 0 && (
        <Scroll label="Table of started runs">
          <table class="list">
            <thead>
              <tr>
                <th>Plan</th>
                <th>Target</th>
                <th>State</th>
                <th>Started</th>
                <th>Result</th>
              </tr>
            </thead>
            <tbody>
              {value.map(job => (
                <tr key={job.job}>
                  <td class="name">
                    <a href={job.campaign ? `/campaigns/${encodeURIComponent(job.campaign)}` : `/jobs/${job.job}`}>
                      {job.campaign ?? job.plan}
                    </a>
                  </td>
                  <td class="target">{job.on.join(', ')}</td>
                  <td>{stateOf(job)}</td>
                  <td class="when">
                    <time dateTime={job.started} title={`${utc(job.started)} UTC`}>
                      {ago(job.started)}
                    </time>
                  </td>
                  <td>{result(job)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}

function result(job: Job) {
  if (job.campaign) return job.says ?? 'campaign';
  return job.run ? <a href={`/runs/${job.run}`}>the run</a> : <span class="faint">none</span>;
}

function stateOf(job: Job): string {
  if (job.state === 'running') return 'running';
  if (job.code === 130) return 'stopped';
  return job.code === null ? job.state : `${job.state}, exit code ${job.code}`;
}
