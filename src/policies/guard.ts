import type { Assets } from '../kernel/asset.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { type Read, read, type Table, type View, type Write, write } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import { type Destination, destinationKey } from './destination-store.ts';
import {
  type DestinationFacts,
  evaluate,
  hasDestinationRules,
  type Meter,
  meterKey,
  velocityRules,
} from './evaluate.ts';
import { firstWait, type Hold, type Requester, requestedBy } from './holds.ts';
import { OPERATOR, type PolicySet, type Subject } from './policy.ts';
import type { Use } from './store.ts';

/** The part of a command that requests a withdrawal which is about policies. */

export type PolicyTables = {
  readonly assets: Assets;
  readonly policyEpochs: Table<bigint>;
  readonly policyMeters: Table<bigint>;
  readonly policyDestinations: Table<DestinationFacts & Partial<Destination>>;
  readonly newUses: Table<Use>;
};

/** What is in force before anybody has made a policy. A command with it is refused as stale where there is one. */
export const noPolicies = (customerId: string): PolicySet => ({
  customerId,
  policies: [],
  operatorEpoch: 0n,
  customerEpoch: 0n,
});

/** The policies have changed since they were read: the command is made again with the present ones. */
export class StalePolicies extends Problem {
  constructor() {
    super(
      'unavailable',
      'The policies are being changed. Nothing was executed; retry with the same ref_id.',
      {},
      1,
    );
  }
}

/** Makes the command with the policies in force, again if they change in the meantime. */
export async function withPolicies<Result>(
  load: () => Promise<PolicySet>,
  submit: (set: PolicySet) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await submit(await load());
    } catch (error) {
      if (!(error instanceof StalePolicies) || attempt === LIMITS.policyAttemptsMax) throw error;
    }
  }
}

type Known = Pick<Subject, 'customerId' | 'profileId' | 'asset' | 'destination'>;

/** The rail may follow from rows that the command reads, so the meters of every rail are read. */
export function policyReads(set: PolicySet, known: Known, tables: PolicyTables): Read[] {
  const { policies } = set;
  const keys = new Set(velocityRules(policies, known).map(({ meter }) => meterKey(meter)));
  return [
    read(tables.policyEpochs, OPERATOR),
    read(tables.policyEpochs, set.customerId),
    ...[...keys].map((key) => read(tables.policyMeters, key)),
    ...(hasDestinationRules(policies, known)
      ? [read(tables.policyDestinations, destinationKey(known.customerId, known.destination))]
      : []),
  ];
}

export type Guarded = {
  readonly holds: readonly Hold[] | null;
  /** What `secondary_status` shows if the withdrawal waits. */
  readonly words: { readonly name: string; readonly detail: string } | undefined;
  readonly dueAtNs: Instant;
  readonly writes: readonly Write[];
};

function isStale(view: View, set: PolicySet, { policyEpochs }: PolicyTables): boolean {
  return (
    (view.row(policyEpochs, OPERATOR) ?? 0n) !== set.operatorEpoch ||
    (view.row(policyEpochs, set.customerId) ?? 0n) !== set.customerEpoch
  );
}

/** What the policies say, and what is written because of them. */
export function guard(
  view: View,
  set: PolicySet,
  subject: Subject,
  { transferId, by }: { readonly transferId: string; readonly by: Requester },
  tables: PolicyTables,
): Guarded | Problem {
  if (isStale(view, set, tables)) return new StalePolicies();
  const { policyMeters, policyDestinations, newUses, assets } = tables;
  const { customerId, destination } = subject;
  const usesDestinations = hasDestinationRules(set.policies, subject);
  const place = destinationKey(customerId, destination);
  const known = usesDestinations ? view.row(policyDestinations, place) : undefined;
  const used = (meter: Meter): bigint => view.row(policyMeters, meterKey(meter)) ?? 0n;
  const facts = { now: view.now, used, destination: known };
  const found = evaluate(set.policies, subject, facts, assets);
  if (found.refusal !== undefined) return found.refusal;
  const use: Use = { ...subject, transferId, atNs: view.now };
  const first = {
    id: newId(),
    customerId,
    destination,
    listed: false,
    addedBy: 'first use',
    createdAtNs: view.now,
  };
  const wait = firstWait(found.holds, view.now);
  return {
    holds: found.holds.length === 0 ? null : requestedBy(found.holds, by),
    words: wait?.words,
    dueAtNs: wait === undefined ? view.now : wait.dueAtNs,
    writes: [
      write(newUses, transferId, use),
      ...found.meters.map((meter) => write(policyMeters, meterKey(meter), used(meter) + subject.units)),
      ...(usesDestinations && known === undefined ? [write(policyDestinations, place, first)] : []),
    ],
  };
}
