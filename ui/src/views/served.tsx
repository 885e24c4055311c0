// Arrays that `fathom serve` serves on this machine: drives and their lights, sets, work, paths, cache and event log.

import { useEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { Served } from '../contract.ts';
import { binary, capacity, duration } from '../figures.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';

type Status = Served['status'];
type Bay = Status['bays'][number];
type Pass = Status['passes'][number];

const WORDS: Record<Bay['status'], string> = {
  'in-use': 'in use',
  spare: 'hot spare',
  unassigned: 'unassigned',
  failed: 'failed',
  empty: 'empty',
  foreign: 'foreign, refused',
  stale: 'out of date, refused',
};

/** More bays than these are drawn smaller. */
const MANY = 24;

export function ServedView() {
  useTitle('Served arrays');
  const [turn, next] = useState(0);
  const { value, error } = useLoad(() => api.served(), [turn]);
  useEffect(() => {
    const timer = setInterval(() => next(turn => turn + 1), 2000);
    return () => clearInterval(timer);
  }, []);
  return (
    <section class="served">
      <h1>Served arrays</h1>
      <Failure error={error} />
      {value?.length === 0 && (
        <p>
          No array is served on this machine. <code>fathom serve md3000 --dir DIRECTORY</code> makes one a block device.
        </p>
      )}
      {value?.map(server => (
        <Server key={server.name} {...server} />
      ))}
    </section>
  );
}

function Server({ name, status, events }: Served) {
  const facts = [
    status.name,
    `array ${status.array}`,
    ...(status.firmware ? [`firmware ${status.firmware}`] : []),
    ...(status.is_volatile ? ['in memory'] : []),
    ...(status.is_write_protected
      ? ['write-protected: no space for the drives']
      : status.writes_refused
        ? [`writes to the drives are refused: ${status.writes_refused}`]
        : []),
  ];
  return (
    <article>
      <h2>{name}</h2>
      <p class="faint">{facts.join(', ')}</p>
      <Bays status={status} />
      <Works status={status} />
      <Sets status={status} />
      <Front status={status} />
      <Cache status={status} />
      <Log name={name} events={events} />
    </article>
  );
}

function Bays({ status }: { status: Status }) {
  return (
    <div class="enclosure">
      <ul class={status.bays.length > MANY ? 'slots many' : 'slots'} aria-label="Bays">
        {status.bays.map(bay => {
          const work = bay.slot && status.works.find(work => work.set === bay.slot?.[0] && work.slot === bay.slot[1]);
          const light = work ? 'rebuilding' : lights(bay);
          const [set, slot] = bay.slot ?? [];
          const member = status.sets.find(one => one.set === set)?.slots[slot ?? 0];
          const copy = typeof member === 'number' && member !== bay.bay ? 'copy of ' : '';
          const place = bay.slot ? `, ${copy}set ${set} slot ${slot}` : '';
          const told = `Bay ${bay.bay}: ${bay.serial || 'no drive'}, ${WORDS[bay.status]}${place}`;
          return (
            <li key={bay.bay} title={told}>
              <span class={`slot ${light}`}>
                <span class="unseen">{told}</span>
                <span class="number" aria-hidden="true">
                  {bay.bay}
                </span>
                <span class="fill" style={work ? { height: `${work.done * 100}%` } : undefined} />
                <span class="mark" aria-hidden="true">
                  {work ? Math.floor(work.done * 100) : light === 'failed' ? '×' : light === 'spare' ? 'S' : ''}
                </span>
                <span class="led" />
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function lights(bay: Bay): string {
  switch (bay.status) {
    case 'in-use':
      return 'online';
    case 'spare':
    case 'empty':
      return bay.status;
    case 'unassigned':
      return 'spare';
    default:
      return 'failed';
  }
}

function Works({ status }: { status: Status }) {
  return (
    <>
      {status.works.map(work => {
        const slot = work.slot === null ? '' : `, slot ${work.slot}`;
        const told = `Set ${work.set}${slot}: ${work.kind} ${(work.done * 100).toFixed(1)} %`;
        const left = work.left_s === null ? '' : `, ${duration(work.left_s)} left`;
        return (
          <p key={`${work.set} ${work.kind} ${work.slot}`}>
            {told}
            {left}
            <progress aria-label={told} max={1} value={work.done} />
          </p>
        );
      })}
      {status.passes.filter(isWorthSaying).map(pass => (
        <p key={pass.number}>{passed(pass)}</p>
      ))}
    </>
  );
}

function isWorthSaying(pass: Pass): boolean {
  return pass.kind === 'verify' || !pass.is_complete || found(pass) > 0;
}

function found(pass: Pass): number {
  return pass.corrected_sectors + pass.unreadable_sectors + pass.inconsistent_stripes;
}

function passed(pass: Pass): string {
  const slot = pass.slot === null ? '' : `, slot ${pass.slot}`;
  const told = `Set ${pass.set}${slot}: ${pass.kind} ${pass.is_complete ? 'complete' : 'stopped'}`;
  if (found(pass) === 0) {
    return told;
  }
  const repaired = pass.is_repaired && pass.inconsistent_stripes > 0 ? ', repaired' : '';
  return (
    `${told}; ${pass.corrected_sectors} sectors corrected, ${pass.unreadable_sectors} unreadable, ` +
    `${pass.inconsistent_stripes} stripes with wrong parity${repaired}`
  );
}

function Sets({ status }: { status: Status }) {
  return (
    <Scroll label="Table of sets">
      <table class="list">
        <thead>
          <tr>
            <th>Set</th>
            <th>Level</th>
            <th>State</th>
            <th>Size</th>
          </tr>
        </thead>
        <tbody>
          {status.sets.map(set => (
            <tr key={set.set}>
              <td>{set.set}</td>
              <td>{set.level}</td>
              <td>{set.state}</td>
              <td>{capacity(set.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Front({ status }: { status: Status }) {
  return (
    <Scroll label="Table of controllers">
      <table class="list">
        <thead>
          <tr>
            <th>Controller</th>
            <th>State</th>
            <th>Paths</th>
            <th>LUNs</th>
          </tr>
        </thead>
        <tbody>
          {status.controllers.map(({ controller, is_online }) => {
            const paths = status.paths.filter(path => path.controller === controller);
            const luns = status.owners.flatMap((owner, lun) => (owner === controller ? [`lun${lun}`] : []));
            return (
              <tr key={controller}>
                <td>{controller}</td>
                <td>{is_online ? 'online' : 'offline'}</td>
                <td>{paths.map(path => `${path.path} ${path.is_up ? 'up' : 'down'}`).join(', ') || 'none'}</td>
                <td>{luns.join(', ') || 'none'}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function Cache({ status: { cache } }: { status: Status }) {
  if (!cache) return null;
  const lost = cache.lost.reduce((sum, range) => sum + range.bytes, 0);
  return (
    <p>
      Write cache: {binary(cache.bytes)}, {cache.is_write_back ? 'write-back' : 'write-through'}, battery{' '}
      {cache.has_battery ? 'good' : 'dead'}, {binary(cache.dirty_bytes)} not on the drives
      {lost > 0 && <strong>, {binary(lost)} lost</strong>}.
    </p>
  );
}

function Log({ name, events }: { name: string; events: Served['events'] }) {
  return (
    <Scroll label={`Event log of ${name}`}>
      <table class="list">
        <thead>
          <tr>
            <th>Seconds</th>
            <th>Severity</th>
            <th>What</th>
          </tr>
        </thead>
        <tbody>
          {events.toReversed().map(event => (
            <tr key={event.number}>
              <td>{event.at_s.toFixed(3)}</td>
              <td>{event.severity}</td>
              <td>{event.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
