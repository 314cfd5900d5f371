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
  /** The version that the change is based on; 0: there is none yet. Absent: whichever is there. */
  readonly basedOn?: number | undefined;
};

const full = (): Problem =>
  new Problem('invalid-state', `There are ${LIMITS.policiesMax} policies already: change one of them.`, {
    status: 'FULL',
  });

const stale = (name: string, basedOn: number, version: number): Problem =>
  new Problem(
    'invalid-state',
    `The policy "${name}" has version ${version} now, and the change is based on version ${basedOn}. Nothing was changed; read the policy, and propose the change again.`,
    { status: 'CHANGED', version, based_on: basedOn },
  );

/** Appends a version: the first one of a new policy, or the next one of the owner's policy of that name. */
export function changePolicyCommand(change: PolicyChange): Command<Policy> {
  const { customerId, name, enabled, document, reason, actor, basedOn } = change;
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
      const version = known?.version ?? 0;
      if (basedOn !== undefined && basedOn !== version) return refuse(stale(name, basedOn, version));
      const { recordedAt } = view;
      const policy: Policy = {
        id: known?.id ?? newPolicyId,
        customerId,
        name,
        version: version + 1,
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
