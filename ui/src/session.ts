// The token: taken from the fragment of the first address, kept for this tab, never left in an address.

const KEY = 'fathom-token';

/** The token of a fragment such as `#token=abc`, or none. */
export function tokenOf(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, '')).get('token') || null;
}

/** Takes the token out of the address bar and keeps it for this tab. */
export function takeToken(): void {
  const token = tokenOf(location.hash);
  if (token === null) return;
  sessionStorage.setItem(KEY, token);
  history.replaceState(history.state, '', location.pathname + location.search);
}

/** The token of this tab; without one the page only reads. */
export function token(): string | null {
  return sessionStorage.getItem(KEY);
}
