import { workerActor } from '../../src/kernel/actor.ts';
import { UNITS_MAX } from '../../src/kernel/amount.ts';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import {
  type Command,
  type Decision,
  type Posting,
  read,
  refuse,
  type Table,
  type View,
  write,
} from '../../src/ledger/command.ts';
import { available, HOLDS, held, OUTSIDE, type TestHold } from '../support/ledger.ts';

/** A simple reference for the write path: maps, one command at a time, no database. */

export const MODEL_ASSETS = ['USD', 'BTC', 'ETH'] as const;
export const PROFILES = 5;
export const SLOTS = 10;
export const KEYS = 15;

/** What commands do, with profiles, holds and assets as small numbers, so that they often conflict. */
export type Act =
  | { readonly kind: 'fund'; readonly profile: number; readonly asset: number; readonly units: bigint }
  | {
      readonly kind: 'pay';
      readonly from: number;
      readonly to: number;
      readonly asset: number;
      readonly units: bigint;
    }
  | {
      readonly kind: 'ring';
      readonly profiles: readonly number[];
      readonly asset: number;
      readonly units: bigint;
    }
  | {
      readonly kind: 'convert';
      readonly profile: number;
      readonly asset: number;
      readonly into: number;
      readonly units: bigint;
      readonly received: bigint;
    }
  | { readonly kind: 'hold'; readonly slot: number; readonly units: bigint }
  | { readonly kind: 'capture' | 'release'; readonly slot: number }
  /** `decide` throws. */
  | { readonly kind: 'broken'; readonly profile: number }
  /** Accepted by the rules, then refused by the database. */
  | { readonly kind: 'unwritable'; readonly profile: number };

export type Operation = {
  readonly act: Act;
  readonly key: number | undefined;
  /** May be decided from the cache; then others may overtake it. */
  readonly ahead: boolean;
};

/** Fresh ids for one run. */
export type World = {
  readonly customerId: string;
  readonly profiles: readonly string[];
  readonly holds: readonly string[];
};

export function createWorld(): World {
  return {
    customerId: newId(),
    profiles: Array.from({ length: PROFILES }, newId),
    holds: Array.from({ length: SLOTS }, newId),
  };
}

/** Text that must be escaped in an array literal. */
export function refIdOf(key: number): string {
  return `"${key}\\, {NULL} 'é€`;
}

function ownerOfSlot(world: World, slot: number): { profileId: string; asset: string } {
  return { profileId: world.profiles[slot % PROFILES]!, asset: MODEL_ASSETS[slot % MODEL_ASSETS.length]! };
}

function postingsOf(world: World, act: Act, existing: Pick<TestHold, 'units'> | undefined): Posting[] {
  const profile = (index: number) => available(world.profiles[index]!);
  const assetOf = (index: number): string => MODEL_ASSETS[index]!;
  switch (act.kind) {
    case 'fund':
      return [{ asset: assetOf(act.asset), from: OUTSIDE, to: profile(act.profile), units: act.units }];
    case 'pay':
      return [
        { asset: assetOf(act.asset), from: profile(act.from), to: profile(act.to), units: act.units },
        { asset: assetOf(act.asset), from: profile(act.from), to: { account: 'fees' }, units: 1n },
      ];
    case 'ring':
      return act.profiles.map((from, index) => ({
        asset: assetOf(act.asset),
        from: profile(from),
        to: profile(act.profiles[(index + 1) % act.profiles.length]!),
        units: act.units,
      }));
    case 'convert': {
      const [owner, pot] = [profile(act.profile), { account: 'conversion' } as const];
      return [
        { asset: assetOf(act.asset), from: owner, to: pot, units: act.units },
        { asset: assetOf(act.into), from: pot, to: owner, units: act.received },
      ];
    }
    case 'hold': {
      const { profileId, asset } = ownerOfSlot(world, act.slot);
      return [{ asset, from: available(profileId), to: held(profileId), units: act.units }];
    }
    case 'capture': {
      const { profileId, asset } = ownerOfSlot(world, act.slot);
      const fee = existing!.units / 10n;
      const out: Posting = {
        asset,
        from: held(profileId),
        to: { account: 'clearing:wire' },
        units: existing!.units - fee,
      };
      return fee === 0n
        ? [out]
        : [out, { asset, from: held(profileId), to: { account: 'fees' }, units: fee }];
    }
    case 'release': {
      const { profileId, asset } = ownerOfSlot(world, act.slot);
      return [{ asset, from: held(profileId), to: available(profileId), units: existing!.units }];
    }
    default:
      return [{ asset: 'USD', from: OUTSIDE, to: profile(act.profile), units: 1n }];
  }
}

function statusAfter(kind: 'hold' | 'capture' | 'release'): TestHold['status'] {
  return kind === 'hold' ? 'PENDING' : kind === 'capture' ? 'COMPLETED' : 'FAILED';
}

/** Breaks a constraint of the database, whatever the row. */
const UNWRITABLE: Table<string> = {
  name: 'refused by the database',
  write: (tx) =>
    tx.query("insert into balances (profile_id, asset, available) values ($1, 'USD', -1)", [newId()]),
};

export type Answer = { readonly causeId: string; readonly postings: readonly Posting[] };
type Fields = Readonly<Record<string, unknown>>;
export type Submission = {
  readonly operation: Operation;
  readonly causeId: string;
  readonly request: Fields;
  readonly command: Command<Answer>;
  /** The instant of the last decision; undefined while there was none. */
  decidedAt(): bigint | undefined;
};

export function submissionOf(world: World, operation: Operation): Submission {
  const { act, key } = operation;
  const causeId = newId();
  const request = Object.fromEntries(
    Object.entries(act).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  );
  const slot = 'slot' in act ? act.slot : undefined;
  let at: bigint | undefined;
  const decide = (view: View): Decision<Answer> => {
    at = view.now;
    if (act.kind === 'broken') throw new Error('a fault in a rule');
    const existing = slot === undefined ? undefined : view.row(HOLDS, world.holds[slot]!);
    const isFree = act.kind === 'hold' ? existing === undefined : existing?.status === 'PENDING';
    if (slot !== undefined && !isFree) return refuse(new Problem('invalid-state', 'not in that state'));
    const postings = postingsOf(world, act, existing);
    const writes =
      slot !== undefined
        ? [
            write(HOLDS, world.holds[slot]!, {
              id: world.holds[slot]!,
              ...ownerOfSlot(world, slot),
              units: act.kind === 'hold' ? act.units : existing!.units,
              status: statusAfter(act.kind as 'hold'),
            }),
          ]
        : act.kind === 'unwritable'
          ? [write(UNWRITABLE, causeId, causeId)]
          : [];
    return { accepted: true, causeId, postings, writes, answer: { causeId, postings } };
  };
  const balances =
    slot !== undefined
      ? [ownerOfSlot(world, slot)]
      : postingsOf(world, act, undefined).flatMap(({ asset, from, to }) =>
          [from, to].flatMap((ref) => ('profileId' in ref ? [{ profileId: ref.profileId, asset }] : [])),
        );
  const command: Command<Answer> = {
    actor: workerActor('test'),
    ...(key === undefined
      ? {}
      : {
          key: {
            customerId: world.customerId,
            space: 'test',
            refId: refIdOf(key),
            resourceId: causeId,
            request,
          },
        }),
    balances,
    ...(slot === undefined ? {} : { reads: [read(HOLDS, world.holds[slot]!)] }),
    ...(operation.ahead ? { optimistic: true } : {}),
    decide,
  };
  return { operation, causeId, request, command, decidedAt: () => at };
}

/** `refused` lists every reason that applies: the model does not decide which one is reported. */
export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'replay'; readonly resourceId: string; readonly differs: readonly string[] }
  | { readonly kind: 'refused'; readonly slugs: readonly string[] }
  | { readonly kind: 'bug' };

export type Model = {
  readonly accounts: ReadonlyMap<string, bigint>;
  readonly holds: ReadonlyMap<number, { units: bigint; status: string }>;
  readonly keys: ReadonlyMap<number, { resourceId: string; request: Fields }>;
  /** Executes one command after all those before it. Without `useKeys`, as if it had no key. */
  submit(submission: Submission, useKeys: boolean): Verdict;
  /** The outcome as if it had no key; nothing changes. */
  consider(submission: Submission): Verdict;
};

export function accountKey(asset: string, ref: Posting['from']): string {
  return `${asset}/${ref.account}/${'profileId' in ref ? ref.profileId : ''}`;
}

export function differing(one: Fields, other: Fields): string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name])).sort();
}

export function createModel(world: World): Model {
  const accounts = new Map<string, bigint>();
  const holds = new Map<number, { units: bigint; status: string }>();
  const keys = new Map<number, { resourceId: string; request: Fields }>();

  function post(postings: readonly Posting[], isReal: boolean): string[] {
    const after = new Map<string, bigint>();
    const change = (key: string, units: bigint): void => {
      after.set(key, (after.get(key) ?? accounts.get(key) ?? 0n) + units);
    };
    const slugs = new Set<string>();
    const hasFloor = (key: string): boolean => /\/(available|held)\//.test(key);
    for (const { asset, to, units } of postings) change(accountKey(asset, to), units);
    for (const [key, units] of after) if (hasFloor(key) && units > UNITS_MAX) slugs.add('invalid-request');
    for (const { asset, from, units } of postings) change(accountKey(asset, from), -units);
    for (const [key, units] of after) if (hasFloor(key) && units < 0n) slugs.add('insufficient-funds');
    if (postings.some(({ asset, from, to }) => accountKey(asset, from) === accountKey(asset, to))) {
      slugs.add('invalid-request');
    }
    if (slugs.size === 0 && isReal) for (const [key, units] of after) accounts.set(key, units);
    return [...slugs];
  }

  function decide(act: Act, isReal: boolean): Verdict {
    if (act.kind === 'broken' || act.kind === 'unwritable') return { kind: 'bug' };
    const existing = 'slot' in act ? holds.get(act.slot) : undefined;
    if (act.kind === 'hold' && existing !== undefined) return { kind: 'refused', slugs: ['invalid-state'] };
    if ((act.kind === 'capture' || act.kind === 'release') && existing?.status !== 'PENDING') {
      return { kind: 'refused', slugs: ['invalid-state'] };
    }
    const slugs = post(postingsOf(world, act, existing), isReal);
    if (slugs.length > 0) return { kind: 'refused', slugs };
    if ('slot' in act && isReal) {
      const units = act.kind === 'hold' ? act.units : existing!.units;
      holds.set(act.slot, { units, status: statusAfter(act.kind) });
    }
    return { kind: 'done' };
  }

  return {
    accounts,
    holds,
    keys,
    submit({ operation: { act, key }, causeId, request }, useKeys) {
      const first = useKeys && key !== undefined ? keys.get(key) : undefined;
      if (first !== undefined)
        return { kind: 'replay', resourceId: first.resourceId, differs: differing(first.request, request) };
      const verdict = decide(act, true);
      if (verdict.kind === 'done' && key !== undefined) keys.set(key, { resourceId: causeId, request });
      return verdict;
    },
    consider: ({ operation: { act } }) => decide(act, false),
  };
}
