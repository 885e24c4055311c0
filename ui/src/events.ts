// Server-sent events, read from a fetch so that the token goes into a header and never into an address.

import { request } from './api.ts';

export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Cuts a stream of text into events; what is not finished waits for more. */
export class EventParser {
  private rest = '';
  private id = '';
  private event = '';
  private data: string[] = [];

  push(text: string): ServerEvent[] {
    const lines = (this.rest + text).split(/\r\n|\n|\r/);
    this.rest = lines.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.data.length > 0) {
          events.push({ id: this.id, event: this.event || 'message', data: this.data.join('\n') });
        }
        this.event = '';
        this.data = [];
        continue;
      }
      const colon = line.indexOf(':');
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'id') this.id = value;
      else if (field === 'event') this.event = value;
      else if (field === 'data') this.data.push(value);
    }
    return events;
  }
}

/**
 * Follows a job's events until `end`, and resumes after the last one when the connection is lost.
 * `lost` hears whether it is connected. Returns what ends it.
 */
export function follow(
  path: string,
  heard: (events: ServerEvent[]) => void,
  lost: (lost: boolean) => void,
): () => void {
  const ending = new AbortController();
  let last = '';
  let pause = 500;

  async function once(): Promise<boolean> {
    const headers: Record<string, string> = { Accept: 'text/event-stream' };
    if (last !== '') headers['Last-Event-ID'] = last;
    const answer = await request(path, { headers, signal: ending.signal });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) return false;
    lost(false);
    pause = 500;
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      const events = parser.push(value);
      if (events.length === 0) continue;
      last = events[events.length - 1]?.id || last;
      heard(events);
      if (events.some(event => event.event === 'end')) return true;
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        if (await once()) return;
      } catch {
        // Lost, or refused: told below, and tried again.
      }
      if (ending.signal.aborted) return;
      lost(true);
      await new Promise(wake => setTimeout(wake, pause));
      pause = Math.min(pause * 2, 10_000);
    }
  }

  void run();
  return () => ending.abort();
}
