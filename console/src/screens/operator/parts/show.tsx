import type { components } from '@ferry/client';
import type { ReactNode } from 'react';
import { Link } from '~/app/link.tsx';
import { cx } from '~/lib/cx.ts';
import { words } from '~/lib/words.ts';
import { type Fact, Facts, Id, ScrollX, Time, type TimelineItem, toneOf } from '~/ui/index.ts';

export type AuditEntry = components['schemas']['AuditEntry'];
type Actor = components['schemas']['Actor'];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

export const isUuid = (text: string): boolean => UUID.test(text);

/** Who did something: the name if there is one, and what kind of actor it is. */
export function ActorName({ actor }: { readonly actor: Actor | undefined }) {
  if (actor === undefined) return <span className="text-quiet">the service</span>;
  const { kind, id, name } = actor;
  const what = kind === 'CLI' ? 'command line' : words(kind).toLowerCase();
  if (name !== undefined) return <span title={`${what} ${id ?? ''}`}>{name}</span>;
  return (
    <span>
      {what} {id !== undefined && (isUuid(id) ? <Id id={id} of={`id of the ${what}`} /> : id)}
    </span>
  );
}

/** `client:<id>`, `person:<id>`, `rail:wire`, `cli:<user>` */
export function ActorText({ text }: { readonly text: string }) {
  const [kind = '', ...rest] = text.split(':');
  const id = rest.join(':');
  if (id === '') return isUuid(text) ? <Id id={text} of="id" /> : <span>{text}</span>;
  return (
    <span>
      {kind} {isUuid(id) ? <Id id={id} of={`${kind} id`} /> : id}
    </span>
  );
}

/** The customer, with a link that opens their screens as they see them. */
export function Customer({ id }: { readonly id: string | undefined }) {
  if (id === undefined) return undefined;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3">
      <Id id={id} of="customer id" />
      <Link to={`/transfers?customer=${id}`} className="text-xs text-accent hover:underline">
        Look at this customer
      </Link>
    </span>
  );
}

/** Leaves of an object, with their place: `rules.0.max`. */
export function leavesOf(value: unknown, at = ''): [string, string][] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [[at, typeof value === 'string' ? value : JSON.stringify(value)]];
  const entries = Object.entries(value);
  if (entries.length === 0) return [];
  return entries.flatMap(([name, one]) => leavesOf(one, at === '' ? name : `${at}.${name}`));
}

export function Leaf({ value }: { readonly value: string }): ReactNode {
  if (isUuid(value)) return <Id id={value} whole />;
  if (TIME.test(value)) return <Time at={value} />;
  return <span className="break-all">{value}</span>;
}

/** Every field of a thing, as it is. */
export function Everything({ value }: { readonly value: unknown }) {
  const facts: Fact[] = leavesOf(value).map(([name, text]) => ({ name, value: <Leaf value={text} /> }));
  return facts.length === 0 ? <p className="text-sm text-quiet">Nothing.</p> : <Facts facts={facts} />;
}

/** What a change has changed: the fields that differ, before and after. */
export function Changes({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const [was, is] = [new Map(leavesOf(before)), new Map(leavesOf(after))];
  const names = [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name));
  if (names.length === 0) return <p className="text-sm text-quiet">No field differs.</p>;
  return (
    <ScrollX label="What changes">
      <table className="w-full text-left text-sm">
        <thead>
          <tr className="border-b border-line">
            {['Field', 'Before', 'After'].map((name) => (
              <th key={name} scope="col" className="eyebrow py-1.5 pr-4">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name} className="border-b border-line/60 align-top last:border-0">
              <th scope="row" className="py-1.5 pr-4 font-mono text-xs font-normal text-quiet">
                {name}
              </th>
              {[was, is].map((side, index) => (
                <td
                  key={index === 0 ? 'before' : 'after'}
                  className={cx('py-1.5 pr-4', index === 0 ? 'text-quiet line-through' : '')}
                >
                  {side.has(name) ? (
                    <Leaf value={side.get(name)!} />
                  ) : (
                    <span className="sr-only">absent</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollX>
  );
}

type Stated = {
  readonly status?: string;
  readonly secondary_status?: { readonly name: string; readonly detail: string };
  readonly crypto_tx_hash?: string;
};

/** A line of the audit log about something that has a status, such as a transfer. */
export function timelineItemOf(entry: AuditEntry): TimelineItem {
  const [was, is] = [entry.before as Stated | undefined, entry.after as Stated | undefined];
  const { status = '', secondary_status: secondary, crypto_tx_hash: hash } = is ?? {};
  const title = entry.outcome === 'REFUSED' ? `Refused: ${entry.action}` : status === '' ? entry.action : '';
  return {
    id: entry.id,
    at: entry.created_at,
    title: title || (was === undefined ? `Requested, ${words(status).toLowerCase()}` : words(status)),
    tone: entry.outcome === 'REFUSED' ? 'bad' : toneOf(status),
    by: (
      <>
        by <ActorName actor={entry.actor} />
      </>
    ),
    children: (
      <>
        {entry.refusal?.detail ?? secondary?.detail}
        {hash !== undefined && hash !== was?.crypto_tx_hash && (
          <p>
            Transaction <Id id={hash} of="transaction hash" />
          </p>
        )}
      </>
    ),
  };
}
