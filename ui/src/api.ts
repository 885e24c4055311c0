// Requests to the server. Every failure is a `Refused` with what was tried, why not, and what to do.

import type * as c from './contract.ts';
import type { Run } from './record.d.ts';
import { token } from './session.ts';

export class Refused extends Error {
  readonly status: number;
  readonly help: string | null;

  constructor(status: number, message: string, help: string | null) {
    super(message);
    this.status = status;
    this.help = help;
  }
}

/** A request with the token, if there is one. Rejects with `Refused` for every answer but 2xx. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const held = token();
  if (held !== null) headers.set('Authorization', `Bearer ${held}`);
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refused(0, 'The server does not answer.', 'Start it again: fathom ui');
  }
  if (answer.ok) return answer;
  let message = `${init.method ?? 'GET'} ${path.split('?')[0]}: ${answer.status} ${answer.statusText}`;
  let help: string | null = null;
  try {
    const body = (await answer.json()) as { error?: string; help?: string };
    message = body.error ?? message;
    help = body.help ?? null;
  } catch {
    // No JSON: the status line has to do.
  }
  throw new Refused(answer.status, message, help);
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await request(path, signal ? { signal } : {})).json()) as T;
}

async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  if (signal) init.signal = signal;
  const text = await (await request(path, init)).text();
  return (text === '' ? null : JSON.parse(text)) as T;
}

const part = encodeURIComponent;

export const api = {
  about: () => get<c.About>('/api/about'),
  runs: (asked: c.RunsAsked, signal?: AbortSignal) => {
    const query = new URLSearchParams({ limit: String(asked.limit) });
    if (asked.search) query.set('search', asked.search);
    if (asked.tag) query.set('tag', asked.tag);
    if (asked.published) query.set('published', '1');
    return get<c.RunsListed>(`/api/runs?${query}`, signal);
  },
  run: (run: string) => get<Run>(`/api/runs/${part(run)}`),
  report: (run: string) => get<c.Article>(`/api/runs/${part(run)}/report`),
  compare: (runs: string[]) => get<c.ComparedArticle>(`/api/compare?runs=${runs.map(part).join(',')}`),
  campaigns: () => get<{ campaigns: c.CampaignRow[] }>('/api/campaigns').then(all => all.campaigns),
  campaign: (name: string) => get<c.Campaign>(`/api/campaigns/${part(name)}`),
  readyCampaigns: () =>
    get<{ campaigns: { name: string; about: string }[] }>('/api/campaign/ready').then(all => all.campaigns),
  readyCampaign: (name: string) => get<{ name: string; toml: string }>(`/api/campaign/ready/${part(name)}`),
  checkCampaign: (asked: c.CampaignAsked, signal?: AbortSignal) =>
    post<c.CampaignChecked>('/api/campaign/check', asked, signal),
  startCampaign: (asked: c.CampaignAsked & { destroy: string | null }) =>
    post<{ job: string }>('/api/campaign/start', asked),
  plans: () => get<{ plans: { name: string; about: string }[] }>('/api/plans').then(all => all.plans),
  plan: (name: string) => get<{ name: string; toml: string }>(`/api/plans/${part(name)}`),
  planKeys: () => get<{ keys: c.PlanKey[] }>('/api/plan-keys').then(all => all.keys),
  checkPlan: (asked: { toml: string; on?: string[]; set?: string[] }, signal?: AbortSignal) =>
    post<c.PlanChecked>('/api/plans/check', asked, signal),
  arrays: () => get<{ arrays: { name: string; about: string }[] }>('/api/arrays').then(all => all.arrays),
  served: () => get<{ servers: c.Served[] }>('/api/served').then(all => all.servers),
  start: (asked: {
    plan: string | null;
    toml: string | null;
    on: string[];
    set: string[];
    tags: Record<string, string>;
    destroy: string | null;
  }) => post<{ job: string }>('/api/start', asked),
  jobs: () => get<{ jobs: c.Job[] }>('/api/jobs').then(all => all.jobs),
  job: (job: string) => get<c.Job>(`/api/jobs/${part(job)}`),
  stop: (job: string) => post<unknown>(`/api/jobs/${part(job)}/stop`, {}),
  lab: (asked: c.LabAsked, signal?: AbortSignal) => post<c.LabAnswer>('/api/lab', asked, signal),
  labArrays: () =>
    get<c.LabArray[] | { arrays: c.LabArray[] }>('/api/lab/arrays').then(all =>
      Array.isArray(all) ? all : all.arrays,
    ),
  rebuild: (asked: { array: string; workload: c.LabWorkload; fail: number }, signal?: AbortSignal) =>
    post<c.Rebuild>('/api/lab/rebuild', asked, signal),
};

/** Saves what the server has at `path` as a file: by a request with the token, which a plain link cannot carry. */
export async function download(path: string, name: string): Promise<void> {
  const url = URL.createObjectURL(await (await request(path)).blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
