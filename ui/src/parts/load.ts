// What is fetched for a view: the last answer stays until the next is there, so that nothing jumps.

import { useEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  value: T | null;
  error: unknown;
  loading: boolean;
}

/** Fetches anew whenever one of `keys` changes; an answer to an older question is dropped. */
export function useLoad<T>(fetched: (signal: AbortSignal) => Promise<T>, keys: unknown[]): Loaded<T> {
  const [state, set] = useState<Loaded<T>>({ value: null, error: null, loading: true });
  useEffect(() => {
    const ending = new AbortController();
    set(last => ({ ...last, loading: true }));
    fetched(ending.signal).then(
      value => ending.signal.aborted || set({ value, error: null, loading: false }),
      error => ending.signal.aborted || set(last => ({ ...last, error, loading: false })),
    );
    return () => ending.abort();
    // The caller names what it depends on
  }, keys);
  return state;
}
