import type { Actor } from '../kernel/actor.ts';
import { plainBytes } from './pack.ts';

/**
 * The actors of the lines of a group, as text: an actor as JSON, then the lines where a request of it begins, each with the id of
 * the request. Requests of one caller follow each other, so most requests cost only a number and their id.
 *
 *   {"kind":"client","id":"…","customerId":"…","from":"192.0.2.1"}
 *   1 01981b3f-…
 *   3 01981b40-…
 *
 * A line that is not there has the actor of the line before. `-` is no id; `=`, in groups of earlier releases, that of the line
 * before. The text is not compressed: ids are random.
 */
export type ActorLines = { text: string; actor: Actor | undefined };

export const noActorLines = (): ActorLines => ({ text: '', actor: undefined });

const isSameCaller = (one: Actor, other: Actor): boolean =>
  one.id === other.id && one.from === other.from && one.kind === other.kind && one.name === other.name;

function headOf({ kind, id, customerId, name, ownerPersonId, from }: Actor): string {
  return `${JSON.stringify({ kind, id, customerId, name, ownerPersonId, from })}\n`;
}

/** Lines are added in their order. */
export function addActorLine(lines: ActorLines, line: number, actor: Actor): void {
  const { actor: last } = lines;
  if (last === actor) return;
  if (last === undefined || !isSameCaller(last, actor)) lines.text += headOf(actor);
  lines.text += `${line} ${actor.requestId ?? '-'}\n`;
  lines.actor = actor;
}

/** The actor of each of these lines, which are sorted. Those of groups of older releases are unknown. */
export function unpackActors(packed: Buffer, lines: readonly number[]): Map<number, Actor> {
  const actors = new Map<number, Actor>();
  let head: Actor | undefined;
  let last: Actor | undefined;
  let next = 0;
  const takeBefore = (line: number): void => {
    for (; next < lines.length && lines[next]! < line; next += 1)
      if (last !== undefined) actors.set(lines[next]!, last);
  };
  for (const text of plainBytes(packed).toString('utf8').split('\n')) {
    if (text.startsWith('{')) {
      head = JSON.parse(text) as Actor;
    } else if (text !== '') {
      const [line, requestId] = text.split(' ') as [string, string];
      takeBefore(Number(line));
      if (requestId !== '=') last = requestId === '-' ? head! : { ...head!, requestId };
    }
  }
  takeBefore(Number.POSITIVE_INFINITY);
  return actors;
}
