// The frame: what there is on the left, the thing itself on the right.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from './api.ts';
import type { About } from './contract.ts';
import { Help } from './parts/help.tsx';
import { typing, useKeys } from './parts/keys.ts';
import { useLoad } from './parts/load.ts';
import { Failure } from './parts/message.tsx';
import { go, parse, type Route } from './route.ts';
import { token } from './session.ts';
import { CampaignView } from './views/campaign.tsx';
import { CampaignEditor } from './views/campaign-editor.tsx';
import { CampaignsView } from './views/campaigns.tsx';
import { CompareView } from './views/compare.tsx';
import { JobView } from './views/job.tsx';
import { JobsView } from './views/jobs.tsx';
import { LabView } from './views/lab.tsx';
import { PlanView } from './views/plan.tsx';
import { PlansView } from './views/plans.tsx';
import { RunView } from './views/run.tsx';
import { RunsView } from './views/runs.tsx';
import { ServedView } from './views/served.tsx';

const PLACES: [string, string, string[]][] = [
  ['/', 'Runs', ['runs', 'run', 'compare']],
  ['/campaigns', 'Campaigns', ['campaigns', 'campaign', 'campaign-editor']],
  ['/lab', 'Array lab', ['lab']],
  ['/served', 'Served arrays', ['served']],
  ['/plans', 'Plans', ['plans', 'plan']],
  ['/jobs', 'In progress', ['jobs', 'job']],
];

function here(): Route {
  return parse(location.pathname, location.search);
}

/** A link within the page changes the address without loading anything. */
function followed(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = (event.composedPath()[0] as Element | undefined)?.closest?.('a');
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (link.pathname.startsWith('/api/') || link.getAttribute('href')?.startsWith('#')) return;
  event.preventDefault();
  go(link.pathname + link.search);
  scrollTo(0, 0);
}

function Shown({ route, about }: { route: Route; about: About | null }) {
  switch (route.view) {
    case 'runs':
      return <RunsView {...route} />;
    case 'run':
      return <RunView run={route.run} />;
    case 'jobs':
      return <JobsView />;
    case 'job':
      return <JobView key={route.job} job={route.job} />;
    case 'compare':
      return <CompareView {...route} />;
    case 'campaigns':
      return <CampaignsView />;
    case 'campaign':
      return <CampaignView key={route.name} {...route} />;
    case 'campaign-editor':
      return <CampaignEditor key={`${route.ready} ${route.again}`} {...route} about={about} />;
    case 'plans':
      return <PlansView />;
    case 'plan':
      return <PlanView key={route.name} {...route} about={about} />;
    case 'lab':
      return <LabView query={route.query} />;
    case 'served':
      return <ServedView />;
    default:
      return (
        <Title text="There is nothing here">
          <p>
            <code>{route.path}</code> is no address of this page. <a href="/">All runs</a>
          </p>
        </Title>
      );
  }
}

function Title({ text, children }: { text: string; children: ComponentChildren }) {
  return (
    <section>
      <h1>{text}</h1>
      {children}
    </section>
  );
}

export function App() {
  const [route, set] = useState(here);
  const [open, setOpen] = useState(false);
  const [helping, setHelping] = useState(false);
  const main = useRef<HTMLElement>(null);
  const about = useLoad(() => api.about(), [route.view]);

  useEffect(() => {
    const moved = () => {
      set(here());
      setOpen(false);
    };
    addEventListener('popstate', moved);
    document.addEventListener('click', followed);
    return () => {
      removeEventListener('popstate', moved);
      document.removeEventListener('click', followed);
    };
  }, []);

  useKeys(event => {
    if (event.key === 'Escape') {
      setHelping(false);
      setOpen(false);
    }
    if (event.key === '?' && !typing(event)) setHelping(true);
  });

  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="nav">
        <a class="mark" href="/">
          Fathom
        </a>
        <button type="button" class="menu" aria-expanded={open} aria-controls="places" onClick={() => setOpen(!open)}>
          Menu
        </button>
        <nav id="places" class={open ? 'open' : ''} aria-label="Views">
          {PLACES.map(([address, name, views]) => (
            <a key={address} href={address} aria-current={views.includes(route.view) ? 'page' : undefined}>
              {name}
            </a>
          ))}
          <button type="button" class="plain" onClick={() => setHelping(true)}>
            Keys <kbd>?</kbd>
          </button>
          <Standing about={about.value} />
        </nav>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Failure error={about.error} />
        <Shown route={route} about={about.value} />
      </main>
      {helping && <Help close={() => setHelping(false)} />}
    </>
  );
}

/** Which library, and what the page may do. */
function Standing({ about }: { about: About | null }) {
  if (!about) return <p class="standing" />;
  return (
    <div class="standing">
      <p title={about.store}>
        {about.runs.toLocaleString('en-US')} {about.runs === 1 ? 'run' : 'runs'} on {about.host}
      </p>
      {token() === null && <p>Read-only: no token. Open the address that `fathom ui` printed to start runs.</p>}
      <p>Fathom {about.version}</p>
    </div>
  );
}
