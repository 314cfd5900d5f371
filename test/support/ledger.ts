import type { Database } from '../../src/database/database.ts';
import { createAssets, DEFAULT_ASSETS } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import type { AccountRef, BalanceKey, Command, IdempotencyKey, Posting } from '../../src/ledger/command.ts';
import { createWritePath, type WritePath, type WritePathObserver } from '../../src/ledger/write-path.ts';

export const assets = createAssets(DEFAULT_ASSETS);

export const OUTSIDE: AccountRef = { account: 'clearing:test' };

export function available(profileId: string): AccountRef {
  return { profileId, account: 'available' };
}

export function held(profileId: string): AccountRef {
  return { profileId, account: 'held' };
}

/** A write path that remembers what troubled it. */
export function createTestWritePath(
  database: Database,
): WritePath & { troubles: string[]; batches: number[] } {
  const troubles: string[] = [];
  const batches: number[] = [];
  const observer: WritePathObserver = {
    batch: (commands) => batches.push(commands),
    queue: () => undefined,
    trouble: (what) => troubles.push(what),
  };
  return Object.assign(createWritePath({ database, assets, observer }), { troubles, batches });
}

/** A command that posts as told, and answers with its cause. */
export function move(postings: readonly Posting[], key?: Partial<IdempotencyKey>): Command<string> {
  const causeId = newId();
  const balances: BalanceKey[] = postings.flatMap(({ asset, from, to }) =>
    [from, to].flatMap((ref) => ('profileId' in ref ? [{ profileId: ref.profileId, asset }] : [])),
  );
  return {
    ...(key === undefined
      ? {}
      : {
          key: {
            customerId: newId(),
            space: 'test',
            refId: newId(),
            request: '{}',
            resourceId: causeId,
            ...key,
          },
        }),
    balances,
    decide: () => ({ accepted: true, causeId, postings, writes: [], answer: causeId }),
  };
}

export function fund(profileId: string, asset: string, units: bigint): Command<string> {
  return move([{ asset, from: OUTSIDE, to: available(profileId), units }]);
}

export function pay(from: string, to: string, asset: string, units: bigint): Command<string> {
  return move([{ asset, from: available(from), to: available(to), units }]);
}
