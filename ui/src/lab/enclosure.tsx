// The enclosure: a slot for each disk, its state by light, letter and name.

import type { Slot } from '../contract.ts';
import { natural } from '../figures.ts';

const WORDS: Record<Slot['state'], string> = {
  online: 'online',
  failed: 'failed',
  spare: 'spare',
  rebuilding: 'rebuilding',
  empty: 'unused',
};

/** More slots than these are drawn smaller. */
const MANY = 24;

interface Props {
  slots: Slot[];
  toggle: (slot: number) => void;
  /** The slot that is rebuilt at present, and how far it is. */
  rebuilding: { slot: number; percent: number } | null;
}

export function Enclosure({ slots, toggle, rebuilding }: Props) {
  const devices = [...new Set(slots.filter(slot => slot.state !== 'empty').map(slot => slot.device))].sort(natural);
  const count = (state: Slot['state']) => slots.filter(slot => slot.state === state).length;
  const told = (Object.keys(WORDS) as Slot['state'][])
    .filter(state => count(state) > 0)
    .map(state => `${count(state)} ${WORDS[state]}`);
  return (
    <div class="enclosure">
      <ul class={slots.length > MANY ? 'slots many' : 'slots'} aria-label="Slots">
        {slots.map(slot => {
          const now = rebuilding?.slot === slot.slot ? 'rebuilding' : slot.state;
          const percent = rebuilding?.slot === slot.slot ? rebuilding.percent : null;
          const empty = slot.state === 'empty';
          return (
            <li key={slot.slot}>
              <button
                type="button"
                class={`slot ${now}`}
                disabled={empty || slot.state === 'spare' || rebuilding !== null}
                aria-pressed={slot.state === 'failed'}
                aria-label={`Slot ${slot.slot}: ${slot.device ? `${slot.device}, ` : ''}${WORDS[now]}${percent === null ? '' : ` ${Math.floor(percent)} %`}${empty ? '' : now === 'failed' ? '; replace' : '; fail'}`}
                title={`Slot ${slot.slot}: ${slot.device || 'no disk'}, ${WORDS[now]}`}
                onClick={() => toggle(slot.slot)}
              >
                <span class="number">{slot.slot}</span>
                <span class="fill" style={percent === null ? undefined : { height: `${percent}%` }} />
                <span class="mark">
                  {now === 'failed'
                    ? '×'
                    : now === 'spare'
                      ? 'S'
                      : now === 'rebuilding'
                        ? `${Math.floor(percent ?? 0)} %`
                        : ''}
                </span>
                <span class="led" />
              </button>
            </li>
          );
        })}
      </ul>
      <p class="faint">
        {told.join(', ')}. {devices.join('; ')}
      </p>
    </div>
  );
}
