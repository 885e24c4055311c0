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
                <th class="n">Runs</th>
                <th class="n">Cells done</th>
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
                  <td class="n">{row?.runs ?? 0}</td>
                  <td class="n">{row?.cells_done ?? 0}</td>
                  <td class="when">
                    {row ? (
                      <time dateTime={row.latest} title={`${utc(row.latest)} UTC`}>
                        {ago(row.latest)}
                      </time>
                    ) : (
                      <span class="faint">none</span>
                    )}
                  </td>
                  <td class="progress">{job ? (job.says ?? 'begins') : ''}</td>
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
