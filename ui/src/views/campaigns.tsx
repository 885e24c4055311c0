import { api } from '../api.ts';
import type { Campaigns, Job } from '../contract.ts';
import { ago, utc } from '../figures.ts';
import { useCampaigns } from '../parts/campaigns.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';

export function CampaignsView() {
  useTitle('Campaigns');
  const { now, lost } = useCampaigns();
  const ready = useLoad(() => api.readyCampaigns(), []);
  return (
    <section>
      <h1>Campaigns</h1>
      {lost && <p class="limit">The server does not answer; trying again.</p>}
      {now && all(now).length === 0 && (
        <p>
          No campaign yet. One measures factors (RAID level, disks, firmware) × plans in blocks, and says which of them
          matter.
        </p>
      )}
      {now && all(now).length > 0 && (
        <Scroll label="Table of campaigns">
          <table class="list">
            <thead>
              <tr>
                <th>Campaign</th>
                <th class="n">Runs done</th>
                <th>Latest run</th>
                <th>Progress</th>
              </tr>
            </thead>
            <tbody>
              {all(now).map(({ name, row, job }) => (
                <tr key={name}>
                  <td class="name">
                    <a href={`/campaigns/${encodeURIComponent(name)}`}>{name}</a>
                  </td>
                  <td class="n">{row ? ofAll(row) : 0}</td>
                  <td class="when">
                    {row ? (
                      <time dateTime={row.latest} title={`${utc(row.latest)} UTC`}>
                        {ago(row.latest)}
                      </time>
                    ) : (
                      <span class="faint">none</span>
                    )}
                  </td>
                  <td class="progress">
                    {row?.runs_planned && (
                      <progress max={row.runs_planned} value={row.runs_done} aria-label={`${name}: ${ofAll(row)} runs`} />
                    )}
                    {job ? (job.says ?? 'begins') : row ? state(row) : ''}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <h2>Start one</h2>
      <Failure error={ready.error} />
      <ul class="plans">
        <li>
          <a href="/new-campaign">new</a>
          <span>Factors and plans of your own, checked as you write</span>
        </li>
        {ready.value?.map(one => (
          <li key={one.name}>
            <a href={`/new-campaign?ready=${encodeURIComponent(one.name)}`}>{one.name}</a>
            <span>{one.about}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type Row = Campaigns['campaigns'][number];

/** `43 of 54`; the runs alone where nothing says how many there are to be. */
function ofAll(row: Row): string {
  return row.runs_planned ? `${row.runs_done} of ${row.runs_planned}` : String(row.runs_done);
}

function state(row: Row): string {
  const lacking = row.lacking > 0 ? `${row.lacking} void, skipped or failed` : '';
  const whole = row.runs_planned !== null && row.runs_done >= row.runs_planned;
  return lacking || (whole ? 'complete' : '');
}

interface Line {
  name: string;
  row: Campaigns['campaigns'][number] | null;
  job: Job | null;
}

/** Those in the library, before them those that have just been started. */
function all({ campaigns, jobs }: Campaigns): Line[] {
  const running = jobs.filter(job => job.state === 'running' && job.campaign !== null);
  const known = campaigns.map(row => ({
    name: row.name,
    row,
    job: running.find(job => job.campaign === row.name) ?? null,
  }));
  const begun = running.filter(job => !campaigns.some(row => row.name === job.campaign));
  return [...begun.map(job => ({ name: job.campaign ?? '', row: null, job })), ...known];
}
