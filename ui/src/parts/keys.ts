import { useLayoutEffect, useRef } from 'preact/hooks';

/** Whether a key goes into a field, or into the browser's own shortcuts. */
export function typing(event: KeyboardEvent): boolean {
  const field = (event.target as Element).matches?.('input:not([type=checkbox]), textarea, select');
  return field || event.ctrlKey || event.metaKey || event.altKey;
}

/** Hears every key of the page, from its first drawing on and always as it was drawn last: effects come only after a
 * picture is painted, and the next key may come before that. */
export function useKeys(pressed: (event: KeyboardEvent) => void): void {
  const latest = useRef(pressed);
  latest.current = pressed;
  useLayoutEffect(() => {
    const key = (event: KeyboardEvent) => latest.current(event);
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
}
