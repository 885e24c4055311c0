// A campaign that is written or changed: mistakes at their places, its hours and what it can see, and its start or
// resumption under the rules of the command line.

import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { About, CampaignAsked } from '../contract.ts';
import { draftOf, keepDraft, keptDraft } from '../drafts.ts';
import { pairs } from '../editing.ts';
import { Consent, Editor, Foreseen, isReal, Problems, targets, useChecked } from '../parts/editor.tsx';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { useTitle } from '../parts/title.ts';
import { go } from '../route.ts';
import { token } from '../session.ts';

interface Props {
  /** A ready campaign to begin with. */
  ready: string;
  /** A campaign that was started before, to be resumed. */
  again: string;
  /** What another view has written. */
  draft: boolean;
  about: About | null;
}

const FIRST = `name    = "raid-levels"
about   = "RAID 5 or RAID 10, on 4 to 14 disks"
on      = "array:md3000"
plans   = ["quick"]
repeats = 3

[factors]
raid  = [5, 10]
disks = [4, 8, 14]
`;

/** What to begin with: the ready one, what was started under that name, a draft, or an example. */
async function begun(ready: string, again: string, draft: boolean): Promise<CampaignAsked> {
  if (ready !== '') return { campaign: ready, toml: (await api.readyCampaign(ready)).toml };
  if (draft) return { toml: draftOf() ?? FIRST };
  if (again === '') return { toml: FIRST };
  const asked = keptDraft(again) ?? (await api.jobs()).find(job => job.campaign === again)?.request;
  const name = asked?.campaign ?? (asked ? null : again);
  if (name === null) return asked ?? {};
  const known = await api.readyCampaigns();
  if (!known.some(one => one.name === name)) return { toml: '' };
  return { ...asked, campaign: name, toml: (await api.readyCampaign(name)).toml };
}

export function CampaignEditor({ ready, again, draft, about }: Props) {
  useTitle(again === '' ? 'New campaign' : `Resume ${again}`);
  const first = useLoad(() => begun(ready, again, draft), [ready, again, draft]);
  return (
    <section class="wide-view">
      <h1>{again === '' ? 'New campaign' : `Resume ${again}`}</h1>
      <Failure error={first.error} />
      {first.value && <Form first={first.value} again={again} about={about} />}
    </section>
  );
}

function Form({ first, again, about }: { first: CampaignAsked; again: string; about: About | null }) {
  const [toml, setToml] = useState(first.toml ?? '');
  const [target, setTarget] = useState([first.on ?? []].flat().join(' '));
  const [set, setSet] = useState((first.set ?? []).join(' '));
  const [repeats, setRepeats] = useState(first.repeats ? String(first.repeats) : '');
  const assigned = pairs(set);
  const isReady = first.campaign && toml === first.toml;
  const asked: CampaignAsked = {
    ...(isReady ? { campaign: first.campaign ?? null } : { toml }),
    on: targets(target),
    set: Object.entries(assigned.pairs).map(([key, value]) => `${key}=${value}`),
    repeats: /^[1-9]\d*$/.test(repeats) ? Number(repeats) : null,
    fraction: first.fraction ?? null,
  };
  const checked = useChecked(toml.trim() === '' ? null : asked, api.checkCampaign);
  const errors = checked.value && !checked.value.ok ? checked.value.errors : [];
  const found = checked.value?.ok ? checked.value : null;
  const wrong = [...assigned.wrong, ...(repeats === '' || asked.repeats ? [] : [repeats])];

  return (
    <div class="editor-view">
      <div>
        <Editor id="campaign-text" label="The campaign, in TOML" text={toml} errors={errors} changed={setToml} />
        <Problems of="campaign-text" errors={errors} cautions={[]} text={toml} />
        {toml.trim() === '' && <p>Paste the campaign here that was started: what is measured of it is not again.</p>}
        <Failure error={checked.error} />
      </div>
      <aside>
        <Start
          asked={asked}
          name={found?.name ?? null}
          left={found?.left ?? 0}
          runs={found?.runs ?? 0}
          real={found?.real ?? isReal(targets(target))}
          wrong={wrong}
          again={again}
          about={about}
        >
          <label>
            Target <span class="faint">in place of those of the campaign</span>
            <input value={target} onInput={event => setTarget(event.currentTarget.value)} />
          </label>
          <label>
            Set keys of all plans <span class="faint">such as warmup=2m run=4s</span>
            <input value={set} onInput={event => setSet(event.currentTarget.value)} />
          </label>
          <label>
            Blocks <span class="faint">how often each cell is measured, in place of its own</span>
            <input
              value={repeats}
              inputmode="numeric"
              pattern="[1-9][0-9]*"
              onInput={event => setRepeats(event.currentTarget.value.trim())}
            />
          </label>
        </Start>
        <Foreseen checked={checked} what="campaign" />
      </aside>
    </div>
  );
}

function caption(left: number, runs: number): string {
  if (left === runs) return 'Start';
  return left === 0 ? `Start again: all ${runs} runs are measured` : `Resume: ${left} of ${runs} runs are left`;
}

interface StartProps {
  asked: CampaignAsked;
  /** Its name, where it can be started. */
  name: string | null;
  runs: number;
  left: number;
  real: boolean;
  wrong: string[];
  again: string;
  about: About | null;
  children: preact.ComponentChildren;
}

function Start({ asked, name, runs, left, real, wrong, again, about, children }: StartProps) {
  const [destroy, setDestroy] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [starting, setStarting] = useState(false);
  const may = token() !== null && about?.can_start !== false;
  const missing =
    wrong.length > 0
      ? `${wrong.join(', ')}: not understood.`
      : name === null
        ? 'The campaign or its target has mistakes, or is still being checked.'
        : again !== '' && name !== again
          ? `This is ${name}, another campaign than ${again}.`
          : '';

  function start(event: Event): void {
    event.preventDefault();
    if (name === null || wrong.length > 0) return;
    setStarting(true);
    setError(null);
    api.startCampaign({ ...asked, destroy: destroy.trim() === '' ? null : destroy.trim() }).then(
      () => {
        keepDraft(name, asked);
        go(`/campaigns/${encodeURIComponent(name)}`);
      },
      error => {
        setStarting(false);
        setError(error);
      },
    );
  }

  return (
    <form class="start" onSubmit={start}>
      <h2>Start it</h2>
      {children}
      {real && <Consent value={destroy} changed={setDestroy} />}
      <button type="submit" class="first" disabled={!may || starting || name === null || wrong.length > 0}>
        {starting ? 'Starting …' : caption(left, runs)}
      </button>
      <p class="faint" role="status">
        {may ? missing : 'Read-only: without the token of this server nothing can be started.'}
      </p>
      <Failure error={error} />
    </form>
  );
}
