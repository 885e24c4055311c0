// A plan that is edited: mistakes at their places, what it will do, and its start under the rules of the command line.

import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { About } from '../contract.ts';
import { keepPlan, keptPlan } from '../drafts.ts';
import { pairs } from '../editing.ts';
import { Consent, Editor, Foreseen, isReal, Problems, targets, useChecked } from '../parts/editor.tsx';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { useTitle } from '../parts/title.ts';
import { go, withQuery } from '../route.ts';
import { token } from '../session.ts';

interface Props {
  name: string;
  on: string;
  set: string;
  tags: string;
  /** Whether the text was changed; it is kept in this tab. */
  draft: boolean;
  about: About | null;
}

export function PlanView({ name, on: target, set, tags, draft, about }: Props) {
  useTitle(name);
  const plan = useLoad(() => api.plan(name), [name]);
  const [text, keep] = useState<string | null>(draft ? keptPlan(name) : null);
  const show = (change: Record<string, string>) => go(withQuery(change), true);
  const setTarget = (on: string) => show({ on });
  const setSet = (set: string) => show({ set });
  const setText = (text: string) => {
    const own = text === plan.value?.toml ? null : text;
    keep(own);
    keepPlan(name, own);
    show({ draft: own === null ? '' : '1' });
  };
  const toml = text ?? plan.value?.toml ?? '';
  const assigned = pairs(set);
  const setList = Object.entries(assigned.pairs).map(([key, value]) => `${key}=${value}`);
  const asked = {
    toml,
    ...(target.trim() === '' ? {} : { on: targets(target) }),
    ...(setList.length === 0 ? {} : { set: setList }),
  };
  const checked = useChecked(toml === '' ? null : asked, api.checkPlan);
  const errors = checked.value && !checked.value.ok ? checked.value.errors : [];
  const cautions = checked.value?.ok ? (checked.value.cautions ?? []) : [];
  const changed = text !== null && text !== plan.value?.toml;

  return (
    <section class="wide-view">
      <h1>
        {name} {changed && <span class="faint">changed; kept in this tab alone</span>}
      </h1>
      <Failure error={plan.error} />
      <div class="editor-view">
        <div>
          <Editor id="plan-text" label="The plan, in TOML" text={toml} errors={errors} changed={setText} />
          <Problems of="plan-text" errors={errors} cautions={cautions} text={toml} />
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
            tags={tags}
            setTags={tags => show({ tags })}
            ready={checked.value?.ok === true}
            barred={checked.value?.ok === true && (checked.value.barred ?? null) !== null}
            about={about}
          />
          <Foreseen checked={checked} what="plan" />
        </aside>
      </div>
      <Keys />
    </section>
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
  tags: string;
  setTags: (text: string) => void;
  ready: boolean;
  /** Whether something speaks against the start that no consent lifts. */
  barred: boolean;
  about: About | null;
}

function Start({ name, toml, target, setTarget, set, setSet, wrong, setList, tags, setTags, ready, barred, about }: StartProps) {
  const arrays = useLoad(() => api.arrays(), []);
  const [destroy, setDestroy] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [starting, setStarting] = useState(false);
  const may = token() !== null && about?.can_start !== false;
  const labels = pairs(tags);
  const real = isReal(targets(target));
  const missing =
    target.trim() === ''
      ? 'A target is missing.'
      : wrong.length + labels.wrong.length > 0
        ? `${[...wrong, ...labels.wrong].join(', ')}: KEY=VALUE expected.`
        : !ready
          ? 'The plan or its target has mistakes, or is still being checked.'
          : barred
            ? 'The target is in use or cannot be written; the reason stands below.'
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
      {real && <Consent value={destroy} changed={setDestroy} />}
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
