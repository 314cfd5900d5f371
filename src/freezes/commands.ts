import { type Actor, actorText } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { type Command, type Decision, read, refuse, write } from '../ledger/command.ts';
import { type Freeze, type Subject, subjectKey } from './freeze.ts';
import { type Freezable, freezables } from './store.ts';

export type NewFreeze = Subject & { readonly reason: string; readonly actor: Actor };

const changed = (key: string, { changed: before }: Freezable, freeze: Freeze): Decision<Freeze> => ({
  accepted: true,
  causeId: freeze.id,
  postings: [],
  writes: [
    write(freezables, key, {
      inForce: freeze.liftedAtNs === null ? freeze : null,
      changed: [...before, freeze],
    }),
  ],
  answer: freeze,
});

/** What is frozen already keeps its freeze. */
export function freezeCommand({ scope, subjectId, reason, actor }: NewFreeze): Command<Freeze> {
  const key = subjectKey({ scope, subjectId });
  const id = newId();
  return {
    actor,
    balances: [],
    reads: [read(freezables, key)],
    decide(view) {
      const known = view.row(freezables, key);
      if (known === undefined) return refuse(notFound(scope.toLowerCase(), subjectId!));
      const { inForce } = known;
      if (inForce !== null)
        return { accepted: true, causeId: inForce.id, postings: [], writes: [], answer: inForce };
      return changed(key, known, {
        id,
        scope,
        subjectId,
        reason,
        frozenBy: actorText(actor),
        createdAtNs: view.recordedAt,
        liftedBy: null,
        liftedBecause: null,
        liftedAtNs: null,
      });
    },
  };
}

export function liftCommand(
  /** Only fields that never change are used. */
  { id, scope, subjectId }: Freeze,
  { reason, actor }: { readonly reason: string; readonly actor: Actor },
): Command<Freeze> {
  const key = subjectKey({ scope, subjectId });
  return {
    actor,
    balances: [],
    reads: [read(freezables, key)],
    decide(view) {
      const known = view.row(freezables, key);
      if (known?.inForce?.id !== id)
        return refuse(new Problem('invalid-state', `Freeze ${id} is LIFTED already.`, { status: 'LIFTED' }));
      const { inForce } = known;
      return changed(key, known, {
        ...inForce,
        liftedBy: actorText(actor),
        liftedBecause: reason,
        liftedAtNs: view.recordedAt > inForce.createdAtNs ? view.recordedAt : inForce.createdAtNs + 1n,
      });
    },
  };
}
