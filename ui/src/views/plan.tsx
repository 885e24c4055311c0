// A plan that is edited: mistakes at their places, what it will do, and its start under the rules of the command line.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { About, PlanChecked, PlanError } from '../contract.ts';
import { isPlaced, marked, offset, type Placed, pairs, wrongLines } from '../editing.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';
import { go } from '../route.ts';
import { token } from '../session.ts';

const PAUSE_MS = 250;

export function PlanView({ name, on, about }: { name: string; on: string; about: About | null }) {
  useTitle(name);
  const plan = useLoad(() => api.plan(name), [name]);
  const [text, setText] = useState<string | null>(null);
  const [target, setTarget] = useState(on);
  const [set, setSet] = useState('');
  const toml = text ?? plan.value?.toml ?? '';
  const assigned = pairs(set);
  const setList = Object.entries(assigned.pairs).map(([key, value]) => `${key}=${value}`);
  const checked = useChecked(toml, target, setList);
  const errors = checked.value && !checked.value.ok ? checked.value.errors : [];
  const cautions = checked.value?.ok ? (checked.value.cautions ?? []) : [];
  const refused = checked.value?.ok ? checked.value.refused : null;
  const changed = text !== null && text !== plan.value?.toml;

  return (
    <section class="wide-view">
      <h1>
        {name} {changed && <span class="faint">changed; not saved anywhere</span>}
      </h1>
      <Failure error={plan.error} />
      <div class="editor-view">
        <div>
          <Editor text={toml} errors={errors} changed={setText} />
          <Problems errors={errors} cautions={cautions} text={toml} />
          <Failure error={checked.error} />
        </div>
        <aside>
          <Start
            name={name}
            toml={changed ? toml : null}
            target={target}
            setTarget={setTarget}
            set={set}
            setSet={setSet}
            wrong={assigned.wrong}
            setList={setList}
            ready={checked.value?.ok === true}
            about={about}
          />
          <h2>What it will do</h2>
          {refused && (
            <div class="message" role="alert">
              <p>Without consent to destroy data the start is refused:</p>
              <p class="faint">{refused}</p>
            </div>
          )}
          <Scroll label="What the plan will do">
            <pre class="dry-run" role="status">
              {checked.error
                ? 'Not checked.'
                : checked.value === null
                  ? 'Checking …'
                  : checked.value.ok
                    ? checked.value.dry_run
                    : errorCount(errors)}
            </pre>
          </Scroll>
        </aside>
      </div>
      <Keys />
    </section>
  );
}

function errorCount(errors: PlanError[]): string {
  return `${errors.length} ${errors.length === 1 ? 'mistake' : 'mistakes'}, listed below the plan.`;
}

/** What the checker says of a text, once nobody has typed for a moment. */
function useChecked(toml: string, target: string, set: string[]): { value: PlanChecked | null; error: unknown } {
  const [state, change] = useState<{ value: PlanChecked | null; error: unknown }>({ value: null, error: null });
  const key = JSON.stringify([toml, target, set]);
  useEffect(() => {
    if (toml === '') return;
    const ending = new AbortController();
    const timer = setTimeout(() => {
      const asked = {
        toml,
        ...(target.trim() === '' ? {} : { on: targets(target) }),
        ...(set.length === 0 ? {} : { set }),
      };
      api.checkPlan(asked, ending.signal).then(
        value => ending.signal.aborted || change({ value, error: null }),
        error => ending.signal.aborted || change({ value: null, error }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
    // The key has all of them
  }, [key]);
  return state;
}

/** Several targets stand on lines of their own, or with spaces between. */
function targets(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

function Editor({ text, errors, changed }: { text: string; errors: PlanError[]; changed: (text: string) => void }) {
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
          id="plan-text"
          aria-label="The plan, in TOML"
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

function Problems({ errors, cautions, text }: { errors: PlanError[]; cautions: PlanError[]; text: string }) {
  function show(error: Placed): void {
    const field = document.getElementById('plan-text') as HTMLTextAreaElement | null;
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

interface StartProps {
  name: string;
  /** The text where it was changed; otherwise the ready plan is started by its name. */
  toml: string | null;
  target: string;
  setTarget: (text: string) => void;
  set: string;
  setSet: (text: string) => void;
  wrong: string[];
  setList: string[];
  ready: boolean;
  about: About | null;
}

function Start({ name, toml, target, setTarget, set, setSet, wrong, setList, ready, about }: StartProps) {
  const arrays = useLoad(() => api.arrays(), []);
  const [tags, setTags] = useState('');
  const [destroy, setDestroy] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [starting, setStarting] = useState(false);
  const may = token() !== null && about?.can_start !== false;
  const labels = pairs(tags);
  const real = target.trim() !== '' && targets(target).some(one => !/^(array|null):/.test(one));
  const missing =
    target.trim() === ''
      ? 'A target is missing.'
      : wrong.length + labels.wrong.length > 0
        ? `${[...wrong, ...labels.wrong].join(', ')}: KEY=VALUE expected.`
        : !ready
          ? 'The plan or its target has mistakes, or is still being checked.'
          : '';

  function start(event: Event): void {
    event.preventDefault();
    if (missing !== '') return;
    setStarting(true);
    setError(null);
    api
      .start({
        plan: toml === null ? name : null,
        toml,
        on: targets(target),
        set: setList,
        tags: labels.pairs,
        destroy: destroy.trim() === '' ? null : destroy.trim(),
      })
      .then(
        ({ job }) => go(`/jobs/${job}`),
        error => {
          setStarting(false);
          setError(error);
        },
      );
  }

  return (
    <form class="start" onSubmit={start}>
      <h2>Start it</h2>
      <label>
        Target
        <input
          value={target}
          list="arrays"
          placeholder="/mnt/array, /dev/sdb, array:md3000, null:"
          onInput={event => setTarget(event.currentTarget.value)}
        />
      </label>
      <datalist id="arrays">
        {arrays.value?.map(array => (
          <option key={array.name} value={`array:${array.name}`}>
            {array.about}
          </option>
        ))}
        <option value="null:">the overhead of the tool itself</option>
      </datalist>
      <label>
        Set keys of the plan <span class="faint">such as depth=32 size=8KiB</span>
        <input value={set} onInput={event => setSet(event.currentTarget.value)} />
      </label>
      <label>
        Tags <span class="faint">such as room=3 firmware=3.88</span>
        <input value={tags} onInput={event => setTags(event.currentTarget.value)} />
      </label>
      {real && (
        <label>
          Consent to destroy data
          <input
            value={destroy}
            aria-describedby="destroy-help"
            autocomplete="off"
            onInput={event => setDestroy(event.currentTarget.value)}
          />
          <span id="destroy-help" class="faint">
            Empty: nothing but scratch files is written. To let the plan write to a device, give its serial number or
            by-id name, to a file its absolute path; with <code>data:</code> before it where a device is not blank. What
            it holds is then lost. Passed on as <code>--destroy</code>; a device that is mounted or in use is refused
            all the same.
          </span>
        </label>
      )}
      <button type="submit" class="first" disabled={!may || starting || missing !== ''}>
        {starting ? 'Starting …' : 'Start'}
      </button>
      <p class="faint" role="status">
        {may ? missing : 'Read-only: without the token of this server nothing can be started.'}
      </p>
      <Failure error={error} />
    </form>
  );
}

/** All keys of a plan, with a filter. */
function Keys() {
  const { value, error } = useLoad(() => api.planKeys(), []);
  const [filter, set] = useState('');
  const keys = (value ?? []).filter(key => `${key.key} ${key.about}`.toLowerCase().includes(filter.toLowerCase()));
  return (
    <details class="keys-help">
      <summary>Keys of a plan</summary>
      <Failure error={error} />
      <label class="inline">
        Filter
        <input type="search" value={filter} onInput={event => set(event.currentTarget.value)} />
      </label>
      <dl>
        {keys.map(key => (
          <div key={key.key}>
            <dt>
              <code>{key.key}</code>
            </dt>
            <dd>
              {key.about}
              {key.default && <span class="faint"> Default: {key.default}.</span>}
              {key.example && <code class="example">{key.example}</code>}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
