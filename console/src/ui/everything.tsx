import type { ReactNode } from 'react';
import { cx } from '~/lib/cx.ts';
import { isUuid } from './history.tsx';
import { Id } from './id.tsx';
import { type Fact, Facts } from './page.tsx';
import { ScrollX } from './scroll.tsx';
import { Time } from './time.tsx';

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

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
