// The knobs in path order, each with its source.

import type { Knob, KnobGroup } from '../contract.ts';
import { defaultOf, type LabState } from './state.ts';

const GROUPS: [KnobGroup, string][] = [
  ['workload', 'Workload'],
  ['host', 'Host'],
  ['protocol', 'Protocol'],
  ['links', 'Links'],
  ['controllers', 'Controllers and cache'],
  ['raid', 'RAID'],
  ['disks', 'Disks'],
];

/** More steps than these are typed, not dragged. */
const MOST_STEPS = 256;

/** A label of more letters stands above its field. */
const LONG = 22;

interface Props {
  knobs: Knob[];
  state: LabState;
  /** `final` is false while a slider is still moved. */
  turn: (knob: Knob, value: string, final: boolean) => void;
}

export function Knobs({ knobs, state, turn }: Props) {
  return (
    <div class="knobs">
      {GROUPS.map(([group, name]) => {
        const of = knobs.filter(knob => knob.group === group);
        if (of.length === 0) return null;
        return (
          <fieldset key={group}>
            <legend>{name}</legend>
            {of.map(knob => (
              <KnobShown key={knob.key} knob={knob} value={state.set[knob.key] ?? defaultOf(knob)} turn={turn} />
            ))}
          </fieldset>
        );
      })}
    </div>
  );
}

function KnobShown({ knob, value, turn }: { knob: Knob; value: string; turn: Props['turn'] }) {
  const id = `knob-${knob.key}`;
  const changed = value !== defaultOf(knob);
  return (
    <div class={`knob${changed ? ' changed' : ''}${knob.label.length > LONG ? ' long' : ''}`}>
      <label for={id}>{knob.label}</label>
      <Field id={id} knob={knob} value={value} turn={turn} />
      {knob.source && (
        <span class="source" id={`${id}-source`}>
          {changed && defaultOf(knob) !== '' ? `${defaultOf(knob)}: ` : ''}
          {knob.source}
        </span>
      )}
    </div>
  );
}

function Field({ id, knob, value, turn }: { id: string; knob: Knob; value: string; turn: Props['turn'] }) {
  const described = knob.source ? `${id}-source` : undefined;
  if (knob.kind === 'choice') {
    const values = (knob.values ?? []).map(String);
    return (
      <select
        id={id}
        value={value}
        aria-describedby={described}
        onChange={event => turn(knob, event.currentTarget.value, true)}
      >
        {!values.includes(value) && <option value={value}>{value === '' ? 'as it is' : value}</option>}
        {values.map(one => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    );
  }
  if (knob.kind === 'text') {
    return (
      <input
        id={id}
        value={value}
        aria-describedby={described}
        onChange={event => turn(knob, event.currentTarget.value.trim(), true)}
      />
    );
  }
  const steps = ((knob.max ?? Number.POSITIVE_INFINITY) - (knob.min ?? 0)) / (knob.step ?? 1);
  if (steps <= MOST_STEPS) {
    return (
      <span class="slider">
        <input
          id={id}
          type="range"
          min={knob.min}
          max={knob.max}
          step={knob.step}
          value={value}
          aria-describedby={described}
          onInput={event => turn(knob, event.currentTarget.value, false)}
          onChange={event => turn(knob, event.currentTarget.value, true)}
        />
        <output for={id}>{value}</output>
      </span>
    );
  }
  return (
    <input
      id={id}
      type="number"
      min={knob.min}
      max={knob.max}
      step={knob.step ?? 'any'}
      value={value}
      aria-describedby={described}
      onChange={event => event.currentTarget.value !== '' && turn(knob, event.currentTarget.value, true)}
    />
  );
}
