import { useEffect } from 'preact/hooks';

/** The title of the window. */
export function useTitle(text: string): void {
  useEffect(() => {
    document.title = text === '' ? 'Fathom' : `${text} · Fathom`;
  }, [text]);
}
