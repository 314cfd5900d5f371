import type { Actor } from '../kernel/actor.ts';
import { plainBytes } from './pack.ts';

/**
 * The actors of the lines of a group, as text: an actor as JSON, then the lines that it wrote, each with the id of its request.
 * Requests of one caller follow each other, so nearly every line costs only its number and its request id.
 *
 *   {"kind":"client","id":"…","customerId":"…","from":"192.0.2.1"}
 *   1 01981b3f-…
 *   2 =
 *
 * `=` is the id of the line before, `-` is none.
 */
export type ActorLines = { text: string; actor: Actor | undefined };

export const noActorLines = (): ActorLines => ({ text: '', actor: undefined });

const isSameCaller = (one: Actor, other: Actor): boolean =>
  one.id === other.id && one.from === other.from && one.kind === other.kind && one.name === other.name;

function headOf({ kind, id, customerId, name, ownerPersonId, from }: Actor): string {
  return `${JSON.stringify({ kind, id, customerId, name, ownerPersonId, from })}\n`;
}

export function addActorLine(lines: ActorLines, line: number, actor: Actor): void {
  const { actor: last } = lines;
  if (last === actor) {
    lines.text += `${line} =\n`;
    return;
  }
  if (last === undefined || !isSameCaller(last, actor)) lines.text += headOf(actor);
  lines.text += `${line} ${actor.requestId ?? '-'}\n`;
  lines.actor = actor;
}

/** By line. Empty for groups of older releases. */
export function unpackActors(packed: Buffer): Map<number, Actor> {
  const actors = new Map<number, Actor>();
  let head: Actor | undefined;
  let last: Actor | undefined;
  for (const text of plainBytes(packed).toString('utf8').split('\n')) {
    if (text.startsWith('{')) {
      head = JSON.parse(text) as Actor;
    } else if (text !== '') {
      const [line, requestId] = text.split(' ') as [string, string];
      if (requestId !== '=') last = requestId === '-' ? head! : { ...head!, requestId };
      actors.set(Number(line), last!);
    }
  }
  return actors;
}
