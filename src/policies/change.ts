import type { Database } from '../database/database.ts';
import { type Actor, actorText } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import { runAlone } from '../ledger/alone.ts';
import { type Command, read, refuse, write } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import { type Document, OPERATOR, type Policy } from './policy.ts';
import { ownedPolicies } from './store.ts';

export type PolicyChange = {
  /** Null: the operator. */
  readonly customerId: string | null;
  readonly name: string;
  readonly enabled: boolean;
  readonly document: Document;
  readonly reason: string;
  readonly actor: Actor;
};

const full = (): Problem =>
  new Problem('invalid-state', `There are ${LIMITS.policiesMax} policies already: change one of them.`, {
    status: 'FULL',
  });

/** Appends a version: the first one of a new policy, or the next one of the owner's policy of that name. */
export function changePolicyCommand(change: PolicyChange): Command<Policy> {
  const { customerId, name, enabled, document, reason, actor } = change;
  const owner = customerId ?? OPERATOR;
  const newPolicyId = newId();
  return {
    actor,
    balances: [],
    reads: [read(ownedPolicies, owner)],
    decide(view) {
      const { policies, changed } = view.row(ownedPolicies, owner)!;
      const known = policies.get(name);
      if (known === undefined && policies.size >= LIMITS.policiesMax) return refuse(full());
      const { recordedAt } = view;
      const policy: Policy = {
        id: known?.id ?? newPolicyId,
        customerId,
        name,
        version: (known?.version ?? 0) + 1,
        enabled,
        document,
        changedBy: actorText(actor),
        reason,
        createdAtNs: known?.createdAtNs ?? recordedAt,
        // Strictly later than the version before, even if clocks differ.
        updatedAtNs:
          known === undefined || recordedAt > known.updatedAtNs ? recordedAt : known.updatedAtNs + 1n,
      };
      const row = { policies: new Map([...policies, [name, policy]]), changed: [...changed, policy] };
      return {
        accepted: true,
        causeId: policy.id,
        postings: [],
        writes: [write(ownedPolicies, owner, row)],
        answer: policy,
      };
    },
  };
}

export const changePolicy = (database: Database, change: PolicyChange): Promise<Policy> =>
  runAlone(database, changePolicyCommand(change));
