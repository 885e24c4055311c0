import { api } from '../api.ts';
import { ago, utc } from '../figures.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';

export function CampaignsView() {
  useTitle('Campaigns');
  const { value, error } = useLoad(() => api.campaigns(), []);
  return (
    <section>
      <h1>Campaigns</h1>
      <Failure error={error} />
      {value?.length === 0 && (
        <>
          <p>
            No campaign yet. One measures factors (RAID level, disks, firmware) × plans in blocks, and says which of
            them matter:
          </p>
          <pre>fathom campaign --list{'\n'}fathom campaign nas</pre>
        </>
      )}
      {value && value.length > 0 && (
        <Scroll label="Table of campaigns">
          <table class="list">
            <thead>
              <tr>
                <th>Campaign</th>
                <th class="n">Runs</th>
                <th class="n">Cells done</th>
                <th>Latest run</th>
              </tr>
            </thead>
            <tbody>
              {value.map(campaign => (
                <tr key={campaign.name}>
                  <td class="name">
                    <a href={`/campaigns/${encodeURIComponent(campaign.name)}`}>{campaign.name}</a>
                  </td>
                  <td class="n">{campaign.runs}</td>
                  <td class="n">{campaign.cells_done}</td>
                  <td class="when">
                    <time dateTime={campaign.latest} title={`${utc(campaign.latest)} UTC`}>
                      {ago(campaign.latest)}
                    </time>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
