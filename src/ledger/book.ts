import { UNITS_MAX } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { invalidField, Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { AccountRef, Balance, Posting } from './command.ts';

/**
 * The balances of one batch, in memory. Postings are checked and applied here without IO; the resulting rows are written as
 * they are. A refused or failed command changes nothing.
 */
export type BalanceRow = {
  readonly profileId: string;
  readonly asset: string;
  available: bigint;
  held: bigint;
  movedAtNs: Instant;
  /** The last flight of the optimistic lane that changed it, if any. */
  flight?: number;
};

export type Entry = {
  readonly ownerId: string;
  readonly asset: string;
  readonly account: string;
  readonly atNs: Instant;
  readonly line: number;
  readonly posting: number;
  readonly causeId: string;
  readonly delta: bigint;
  readonly balanceAfter: bigint | null;
};

export type Book = {
  balance(profileId: string, asset: string): Balance;
  /** The instant for a command that touches these balances: after `floor` and after every entry that they have. */
  instantAfter(floor: Instant, keys: readonly { profileId: string; asset: string }[]): Instant;
  /** A problem if a balance is too small. Throws on postings that no rule should make. */
  post(causeId: string, at: Instant, postings: readonly Posting[]): Problem | undefined;
  /** What is posted from now on can be undone, until it is released. One at a time. */
  savepoint(): Savepoint;
  readonly entries: readonly Entry[];
  changedRows(): BalanceRow[];
  /** The values of a changed row before the batch: the version that the change is based on. */
  before(row: BalanceRow): Version;
};

export type Savepoint = { restore(): void; release(): void };

export type Version = Pick<Readonly<BalanceRow>, 'available' | 'held' | 'movedAtNs'>;

export function balanceKeyText(profileId: string, asset: string): string {
  return `${profileId}/${asset}`;
}

/** Why a posting is invalid, whatever the balances are. */
function postingFault(posting: Posting, assets: Assets): Problem | undefined {
  const { units, from, to } = posting;
  if (assets.find(posting.asset) === undefined)
    return invalidField('/asset', `"${posting.asset}" is not a known asset`);
  if (typeof units !== 'bigint')
    return invalidField('/amount', 'must be an integer number of units (bigint)');
  if (units <= 0n) return invalidField('/amount', 'must be greater than zero');
  if (units > UNITS_MAX) return invalidField('/amount', 'is larger than the ledger can hold');
  if (from.account === to.account && ownerOf(from) === ownerOf(to)) {
    return invalidField('', 'moves value from an account to itself');
  }
  return undefined;
}

function ownerOf(ref: AccountRef): string | undefined {
  return 'profileId' in ref ? ref.profileId : undefined;
}

type Side = {
  row: BalanceRow;
  account: 'available' | 'held';
  before: bigint;
  credits: bigint;
  debits: bigint;
};

/** The two sides of one posting; undefined for an account of the service. */
type PostingSides = { readonly from: Side | undefined; readonly to: Side | undefined };

export type FindBalance = (profileId: string, asset: string) => BalanceRow | undefined;

/** Looks up balances among these rows. */
export function findAmong(rows: Iterable<BalanceRow>): FindBalance {
  // Two levels, because a concatenated key would have to be hashed again for each lookup.
  const byAsset = new Map<string, Map<string, BalanceRow>>();
  for (const row of rows) {
    const ofAsset = byAsset.get(row.asset);
    if (ofAsset === undefined) byAsset.set(row.asset, new Map([[row.profileId, row]]));
    else ofAsset.set(row.profileId, row);
  }
  return (profileId, asset) => byAsset.get(asset)?.get(profileId);
}

/** Adds up the debits and credits of each profile account, without changing anything yet. */
function sidesOf(
  postings: readonly Posting[],
  rowOf: (profileId: string, asset: string) => BalanceRow,
): { sides: Side[]; posted: PostingSides[] } {
  const sides = { available: new Map<BalanceRow, Side>(), held: new Map<BalanceRow, Side>() };
  const sideOf = (ref: AccountRef, asset: string): Side | undefined => {
    if (!('profileId' in ref)) return undefined;
    const row = rowOf(ref.profileId, asset);
    let side = sides[ref.account].get(row);
    if (side === undefined) {
      side = { row, account: ref.account, before: row[ref.account], credits: 0n, debits: 0n };
      sides[ref.account].set(row, side);
    }
    return side;
  };
  const posted = postings.map((posting): PostingSides => {
    const from = sideOf(posting.from, posting.asset);
    const to = sideOf(posting.to, posting.asset);
    if (from !== undefined) from.debits += posting.units;
    if (to !== undefined) to.credits += posting.units;
    return { from, to };
  });
  return { sides: [...sides.available.values(), ...sides.held.values()], posted };
}

/** Why the account cannot be changed: its balance would be negative, or too large. */
function faultOf(side: Side, assets: Assets): Problem | undefined {
  const after = side.before + side.credits - side.debits;
  const { profileId, asset } = side.row;
  if (after > UNITS_MAX || side.before + side.credits > UNITS_MAX) {
    return invalidField('/amount', `would make the ${asset} balance larger than the ledger can hold`);
  }
  if (after >= 0n) return undefined;
  // Only this ledger moves value into `held`, so taking out more than is there is a bug.
  if (side.account === 'held') throw new Error(`held ${asset} of ${profileId} would fall below zero`);
  const available = assets.format(asset, side.before);
  const needed = assets.format(asset, side.debits - side.credits);
  return new Problem(
    'insufficient-funds',
    `Profile ${profileId} has ${available} ${asset} available, ${needed} ${asset} are needed.`,
    { profile_id: profileId, asset, available, needed },
  );
}

/**
 * Applies the postings. Within an account and instant, credits come before debits: so no running balance is negative if the
 * final one is not, even if value moves in a ring.
 */
function append(
  entries: Entry[],
  causeId: string,
  at: Instant,
  postings: readonly Posting[],
  posted: readonly PostingSides[],
): void {
  const count = postings.length;
  for (let pass = 0; pass < 2; pass += 1) {
    for (let index = 0; index < count; index += 1) {
      const { asset, from, to, units, causeId: ownCauseId } = postings[index]!;
      const cause = ownCauseId ?? causeId;
      const ref = pass === 0 ? to : from;
      const delta = pass === 0 ? units : -units;
      const { from: fromSide, to: toSide } = posted[index]!;
      const side = pass === 0 ? toSide : fromSide;
      let balanceAfter: bigint | null = null;
      if (side !== undefined) {
        const { row, account } = side;
        balanceAfter = row[account] + delta;
        row[account] = balanceAfter;
      }
      entries.push({
        ownerId: (side ?? toSide ?? fromSide)?.row.profileId ?? cause,
        asset,
        account: ref.account,
        atNs: at,
        line: pass * count + index,
        posting: index,
        causeId: cause,
        delta,
        balanceAfter,
      });
    }
  }
}

/** The rows that `find` returns are changed in place. */
export function createBook(find: FindBalance, assets: Assets): Book {
  /** The changed rows, with their values before the batch. */
  const changed = new Map<BalanceRow, Version>();
  const entries: Entry[] = [];
  /** Since the savepoint: the rows before each change, and whether they were changed before it. */
  let undoing: { row: BalanceRow; version: Version; wasChanged: boolean }[] | undefined;

  function rowOf(profileId: string, asset: string): BalanceRow {
    const row = find(profileId, asset);
    if (row === undefined) throw new Error(`the command did not name the balance ${profileId}/${asset}`);
    return row;
  }

  return {
    balance: rowOf,
    instantAfter(floor, keys) {
      let instant = floor;
      for (const key of keys) {
        const { movedAtNs } = rowOf(key.profileId, key.asset);
        if (movedAtNs >= instant) instant = movedAtNs + 1n;
      }
      return instant;
    },
    post(causeId, at, postings) {
      if (postings.length > LIMITS.commandPostingsMax)
        throw new Error(`${postings.length} postings in one command`);
      for (const posting of postings) {
        const fault = postingFault(posting, assets);
        if (fault !== undefined) return fault;
      }
      const { sides, posted } = sidesOf(postings, rowOf);
      for (const side of sides) {
        const fault = faultOf(side, assets);
        if (fault !== undefined) return fault;
      }
      for (const { row } of sides) {
        const wasChanged = changed.has(row);
        if (wasChanged && undoing === undefined) continue;
        const { available, held, movedAtNs } = row;
        const version = { available, held, movedAtNs };
        undoing?.push({ row, version, wasChanged });
        if (!wasChanged) changed.set(row, version);
      }
      append(entries, causeId, at, postings, posted);
      for (const { row } of sides) row.movedAtNs = at;
      return undefined;
    },
    savepoint() {
      const count = entries.length;
      undoing = [];
      return {
        restore() {
          entries.length = count;
          for (const { row, version, wasChanged } of undoing!.toReversed()) {
            Object.assign(row, version);
            if (!wasChanged) changed.delete(row);
          }
          undoing = [];
        },
        release() {
          undoing = undefined;
        },
      };
    },
    entries,
    changedRows: () => [...changed.keys()],
    before: (row) => changed.get(row)!,
  };
}
