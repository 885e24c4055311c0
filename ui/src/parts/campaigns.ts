// Campaigns as they are in the library, and what was started of them, told whenever either changes.

import { useEffect, useState } from 'preact/hooks';
import type { Campaigns } from '../contract.ts';
import { follow } from '../events.ts';

/** The newest; none before the first. `lost` while the server does not answer. */
export function useCampaigns(): { now: Campaigns | null; lost: boolean } {
  const [now, set] = useState<Campaigns | null>(null);
  const [lost, setLost] = useState(false);
  useEffect(
    () =>
      follow(
        '/api/campaign/events',
        events => {
          const last = events[events.length - 1];
          if (last) set(JSON.parse(last.data) as Campaigns);
        },
        setLost,
      ),
    [],
  );
  return { now, lost };
}
