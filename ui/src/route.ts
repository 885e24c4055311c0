// Every state of the page has an address.

export type Route =
  | { view: 'runs'; search: string; tag: string; published: boolean; selected: string[] }
  | { view: 'run'; run: string }
  | { view: 'jobs' }
  | { view: 'job'; job: string }
  | { view: 'compare'; runs: string[]; rows: string; columns: string; figure: string; only: string }
  | { view: 'campaigns' }
  | { view: 'campaign'; name: string; rows: string; columns: string; figure: string }
  | { view: 'campaign-editor'; ready: string; again: string; draft: boolean }
  | { view: 'plans' }
  | { view: 'plan'; name: string; on: string; set: string; tags: string; draft: boolean }
  | { view: 'lab'; query: string }
  | { view: 'served' }
  | { view: 'nothing'; path: string };

/** The route of an address. */
export function parse(path: string, query: string): Route {
  const [first = '', second, ...more] = path
    .replace(/^\/|\/$/g, '')
    .split('/')
    .map(decode);
  const of = new URLSearchParams(query);
  const text = (name: string) => of.get(name) ?? '';
  const list = (name: string) => text(name).split(',').filter(Boolean);
  const pivot = () => ({ rows: text('rows'), columns: text('columns'), figure: text('figure') });
  if (more.length > 0) return { view: 'nothing', path };
  switch (second === undefined ? first : `${first}/`) {
    case '':
    case 'runs':
      return {
        view: 'runs',
        search: text('search'),
        tag: text('tag'),
        published: of.has('published'),
        selected: list('selected'),
      };
    case 'runs/':
      return { view: 'run', run: second ?? '' };
    case 'jobs':
      return { view: 'jobs' };
    case 'jobs/':
      return { view: 'job', job: second ?? '' };
    case 'compare':
      return { view: 'compare', runs: list('runs'), ...pivot(), only: text('only') };
    case 'campaigns':
      return { view: 'campaigns' };
    case 'campaigns/':
      return { view: 'campaign', name: second ?? '', ...pivot() };
    case 'new-campaign':
      return { view: 'campaign-editor', ready: text('ready'), again: text('again'), draft: of.has('draft') };
    case 'plans':
      return { view: 'plans' };
    case 'plans/':
      return {
        view: 'plan',
        name: second ?? '',
        on: text('on'),
        set: text('set'),
        tags: text('tags'),
        draft: of.has('draft'),
      };
    case 'lab':
      return { view: 'lab', query };
    case 'served':
      return { view: 'served' };
    default:
      return { view: 'nothing', path };
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The present address with some of its query changed; empty values leave it. */
export function withQuery(change: Record<string, string>): string {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(change)) {
    if (value === '') query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString().replaceAll('%2C', ',');
  return location.pathname + (text === '' ? '' : `?${text}`);
}

/** Shows `address`; with `replace` it takes the place of the present one in the history. */
export function go(address: string, replace = false): void {
  if (address === location.pathname + location.search) return;
  const step = ((history.state as { step?: number } | null)?.step ?? 0) + (replace ? 0 : 1);
  history[replace ? 'replaceState' : 'pushState']({ step }, '', address);
  dispatchEvent(new PopStateEvent('popstate', { state: history.state }));
}
