// A text that is edited: its lines, mistakes at their places, and what it will do.

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { PlanChecked, PlanError } from '../contract.ts';
import { isPlaced, marked, offset, type Placed, wrongLines } from '../editing.ts';
import { Scroll } from './scroll.tsx';

const PAUSE_MS = 250;

interface EditorProps {
  id: string;
  label: string;
  text: string;
  errors: PlanError[];
  changed: (text: string) => void;
}

export function Editor({ id, label, text, errors, changed }: EditorProps) {
  const lines = useMemo(() => text.split('\n').length, [text]);
  const wrong = wrongLines(errors);
  return (
    <div class="editor" style={{ '--lines': lines }}>
      <div class="numbers" aria-hidden="true">
        {Array.from({ length: lines }, (_, line) => (
          // A line is its number
          <span key={line} class={wrong.has(line + 1) ? 'wrong' : ''}>
            {line + 1}
          </span>
        ))}
      </div>
      <div class="text">
        <pre class="marks" aria-hidden="true">
          {marked(text, errors).map((piece, at) =>
            // Pieces have no other name
            piece.error ? <mark key={at}>{piece.text}</mark> : piece.text,
          )}
          {'\n'}
        </pre>
        <textarea
          id={id}
          aria-label={label}
          aria-describedby="problems"
          aria-invalid={errors.length > 0}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          wrap="off"
          value={text}
          onInput={event => changed(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}

interface ProblemsProps {
  /** The editor that has the text. */
  of: string;
  errors: PlanError[];
  cautions: PlanError[];
  text: string;
}

export function Problems({ of, errors, cautions, text }: ProblemsProps) {
  function show(error: Placed): void {
    const field = document.getElementById(of) as HTMLTextAreaElement | null;
    const from = offset(text, error.line, error.column);
    field?.focus();
    field?.setSelectionRange(from, from + Math.max(1, error.length ?? 1));
  }
  return (
    <ul id="problems" class="problems" aria-live="polite">
      {[...errors, ...cautions].map(error => (
        <li key={`${error.line}:${error.column} ${error.message}`} class={cautions.includes(error) ? 'caution' : ''}>
          {error.where ? (
            <span class="faint">{error.where} </span>
          ) : isPlaced(error) ? (
            <button type="button" class="plain" onClick={() => show(error)}>
              Line {error.line}, column {error.column}
            </button>
          ) : null}
          {error.message}
          {error.help && <span class="faint"> {error.help}</span>}
        </li>
      ))}
    </ul>
  );
}

export interface Checked<T> {
  value: T | null;
  error: unknown;
}

/** What the checker says of what is `asked`, once nobody has typed for a moment; of nothing, nothing. */
export function useChecked<A, T>(asked: A | null, check: (asked: A, signal: AbortSignal) => Promise<T>): Checked<T> {
  const [state, change] = useState<Checked<T>>({ value: null, error: null });
  const key = JSON.stringify(asked);
  useEffect(() => {
    if (asked === null) return;
    const ending = new AbortController();
    const timer = setTimeout(() => {
      check(asked, ending.signal).then(
        value => ending.signal.aborted || change({ value, error: null }),
        error => ending.signal.aborted || change({ value: null, error }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
    // The key has all that is asked
  }, [key]);
  return state;
}

/** The dry run, or why there is none. */
export function Foreseen({ checked, what }: { checked: Checked<PlanChecked>; what: string }) {
  const { value, error } = checked;
  const refused = value?.ok ? value.refused : null;
  const barred = value?.ok ? (value.barred ?? null) : null;
  const count = value && !value.ok ? value.errors.length : 0;
  return (
    <>
      <h2>What it will do</h2>
      {refused && (
        <div class="message" role="alert">
          <p>
            {barred
              ? 'The start is refused, whatever consent is given:'
              : 'Without consent to destroy data the start is refused:'}
          </p>
          <p class="faint">{barred ? `${refused}: ${barred}` : refused}</p>
        </div>
      )}
      <Scroll label={`What the ${what} will do`}>
        <pre class="dry-run" role="status">
          {error
            ? 'Not checked.'
            : value === null
              ? 'Checking …'
              : value.ok
                ? value.dry_run
                : `${count} ${count === 1 ? 'mistake' : 'mistakes'}, listed below the ${what}.`}
        </pre>
      </Scroll>
    </>
  );
}

/** Several targets stand on lines of their own, or with spaces between. */
export function targets(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** Whether any of them is neither a virtual array nor nothing at all. */
export function isReal(of: string[]): boolean {
  return of.some(one => !/^(array|null):/.test(one));
}

/** Consent to destroy data, in the words of the command line. */
export function Consent({ value, changed }: { value: string; changed: (text: string) => void }) {
  return (
    <label>
      Consent to destroy data
      <input
        value={value}
        aria-describedby="destroy-help"
        autocomplete="off"
        onInput={event => changed(event.currentTarget.value)}
      />
      <span id="destroy-help" class="faint">
        Empty: nothing but scratch files is written. To let the plan write to a device, give its serial number or by-id
        name, to a file its absolute path; with <code>data:</code> before it where a device is not blank. What it holds
        is then lost. Passed on as <code>--destroy</code>; a device that is mounted or in use is refused all the same.
      </span>
    </label>
  );
}
