import { workerActor } from '../../kernel/actor.ts';
import type { Assets } from '../../kernel/asset.ts';
import type { ProfileFacts } from '../../kernel/profile-facts.ts';
import { balanceKeyText } from '../../ledger/book.ts';
import {
  type Command,
  type Posting,
  type Read,
  read,
  type Table,
  type View,
  write,
} from '../../ledger/command.ts';
import { settlementEvents } from '../commands.ts';
import { AWAITING_PARTY, awaitingFunds, effectsOf } from '../effects.ts';
import type { Wait } from '../engine-store.ts';
import { legPosting } from '../postings.ts';
import { moved, moveFault } from '../rules.ts';
import { partiesOf, type SecondaryStatus, type Settlement } from '../transaction.ts';
import { choose } from './netting.ts';

/** Settles, waits and expires by itself. */
const ENGINE = workerActor('settlement');

export type EngineTables = {
  readonly assets: Assets;
  readonly profiles: Table<ProfileFacts>;
  /** The same profiles, locked: their status cannot change until commit. */
  readonly heldProfiles: Table<ProfileFacts>;
  /** Locks the freezes: none is lifted until commit. */
  readonly heldFreezes: Table<true>;
  readonly settlements: Table<Settlement>;
  readonly waits: Table<Wait>;
};

/**
 * The balances that the transactions debit: growth of any of them may let them settle. Even if a balance covers each of
 * them alone, a set may need more.
 */
export function waitsOf(many: readonly Settlement[], available: (key: string) => bigint): Wait[] {
  const waits = new Map<string, Wait>();
  for (const settlement of many) {
    for (const { key, profileId, asset, units } of effectsOf(settlement)) {
      if (units > 0n) continue;
      const known = waits.get(key);
      if (known !== undefined && known.untilNs >= settlement.windowEndNs) continue;
      waits.set(key, { profileId, asset, seenUnits: available(key), untilNs: settlement.windowEndNs });
    }
  }
  return [...waits.values()];
}

/** Every balance that a leg touches, once: legs that cancel each other out are posted as well. */
function balancesOfLegs(many: readonly Settlement[]): Command<unknown>['balances'] {
  const keys = new Map<string, { profileId: string; asset: string }>();
  for (const { sourceProfileId, targetProfileId, legs } of many) {
    for (const { asset } of legs) {
      for (const profileId of [sourceProfileId, targetProfileId]) {
        keys.set(balanceKeyText(profileId, asset), { profileId, asset });
      }
    }
  }
  return [...keys.values()];
}

function postingsOf(settlement: Settlement): Posting[] {
  return settlement.legs.map((leg) => ({ ...legPosting(settlement, leg), causeId: settlement.id }));
}

/** Oldest first, then by id. */
export function byAge(a: Settlement, b: Settlement): number {
  if (a.createdAtNs !== b.createdAtNs) return a.createdAtNs < b.createdAtNs ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** The current rows, locked. The rows that were read before were only a reason to try. */
function lockedRows(view: View, many: readonly Settlement[], { settlements }: EngineTables): Settlement[] {
  return many.flatMap(({ id }) => view.row(settlements, id) ?? []);
}

function partyReads(many: readonly Settlement[], profiles: Table<ProfileFacts>): Read[] {
  return [...new Set(many.flatMap(partiesOf))].map((id) => read(profiles, id));
}

/** Both profiles are enabled, and not frozen. Disabling a profile waits for batches that may have read it as enabled. */
function mayMove(view: View, settlement: Settlement, profiles: Table<ProfileFacts>): boolean {
  return partiesOf(settlement).every((id) => view.row(profiles, id)?.status === 'ACTIVE');
}

/**
 * Settles as many of these as possible: all legs of each in this one command, whose balances are checked after the last
 * posting. The choice is made on locked balances, at an instant after all locks are held: no other command can intervene,
 * and the window is checked against the time of the postings. Answers with the transactions that settled.
 */
export function settleCommand(many: readonly Settlement[], tables: EngineTables): Command<Settlement[]> {
  const { assets, profiles, settlements } = tables;
  return {
    actor: ENGINE,
    balances: balancesOfLegs(many),
    reads: [...many.map(({ id }) => read(settlements, id)), ...partyReads(many, profiles)],
    decide(view) {
      const open = lockedRows(view, many, tables)
        .filter((row) => moveFault(row, 'settle', view.now) === undefined && mayMove(view, row, profiles))
        .sort(byAge);
      const available = new Map<string, bigint>();
      const candidates = open.map((item) => {
        const effects = effectsOf(item);
        for (const { key, profileId, asset } of effects) {
          available.set(key, view.balance(profileId, asset).available);
        }
        return { item, effects };
      });
      const { steps } = choose(candidates, (key) => available.get(key)!);
      const settled = steps.flat().map((row) => moved(row, 'settle', view.recordedAt));
      return {
        accepted: true,
        causeId: settled[0]?.id ?? many[0]!.id,
        postings: settled.flatMap(postingsOf),
        writes: settled.flatMap((row) => [write(settlements, row.id, row), ...settlementEvents(row, assets)]),
        answer: settled,
      };
    },
  };
}

function waiting(row: Settlement, secondaryStatus: SecondaryStatus, view: View): Settlement {
  const updatedAtNs = view.recordedAt > row.updatedAtNs ? view.recordedAt : row.updatedAtNs + 1n;
  return { ...row, secondaryStatus, updatedAtNs };
}

/**
 * A profile of each was disabled or frozen when the plan was made: they wait until it is enabled, or the freeze is lifted. The
 * status and the freezes are locked until this is committed, so that enabling or lifting finds them. A transaction whose
 * profiles may both settle by now becomes due again.
 */
export function awaitPartyCommand(many: readonly Settlement[], tables: EngineTables): Command<Settlement[]> {
  const { heldProfiles, heldFreezes, settlements } = tables;
  return {
    actor: ENGINE,
    balances: [],
    reads: [
      read(heldFreezes, 'all'),
      ...many.map(({ id }) => read(settlements, id)),
      ...partyReads(many, heldProfiles),
    ],
    decide(view) {
      const changed = lockedRows(view, many, tables).flatMap((row) => {
        if (moveFault(row, 'settle', view.now) !== undefined) return [];
        const known = row.secondaryStatus?.name;
        if (mayMove(view, row, heldProfiles))
          return known === undefined ? [] : [{ ...row, secondaryStatus: null }];
        return known === AWAITING_PARTY.name ? [] : [waiting(row, AWAITING_PARTY, view)];
      });
      return {
        accepted: true,
        causeId: many[0]!.id,
        postings: [],
        writes: changed.map((row) => write(settlements, row.id, row)),
        answer: changed,
      };
    },
  };
}

/**
 * Records that these transactions wait, and the balances that they debit. There is no event, because their status does not
 * change.
 */
export function awaitFundsCommand(
  many: readonly Settlement[],
  available: (key: string) => bigint,
  tables: EngineTables,
): Command<Settlement[]> {
  const { assets, settlements, waits } = tables;
  return {
    actor: ENGINE,
    balances: [],
    reads: many.map(({ id }) => read(settlements, id)),
    decide(view) {
      const changed = lockedRows(view, many, tables).flatMap((row) => {
        if (row.secondaryStatus !== null || moveFault(row, 'settle', view.now) !== undefined) return [];
        const secondaryStatus = awaitingFunds(row, available, assets);
        if (secondaryStatus === undefined) return [];
        return [waiting(row, secondaryStatus, view)];
      });
      return {
        accepted: true,
        causeId: many[0]!.id,
        postings: [],
        writes: [
          ...changed.map((row) => write(settlements, row.id, row)),
          ...waitsOf(changed, available).map((wait) =>
            write(waits, balanceKeyText(wait.profileId, wait.asset), wait),
          ),
        ],
        answer: changed,
      };
    },
  };
}

/** Expires those whose window has ended, with an event for each party. */
export function expireCommand(many: readonly Settlement[], tables: EngineTables): Command<Settlement[]> {
  const { assets, settlements } = tables;
  return {
    actor: ENGINE,
    balances: [],
    reads: many.map(({ id }) => read(settlements, id)),
    decide(view) {
      const expired = lockedRows(view, many, tables)
        .filter((row) => moveFault(row, 'expire', view.now) === undefined)
        .map((row) => moved(row, 'expire', view.recordedAt));
      return {
        accepted: true,
        causeId: many[0]!.id,
        postings: [],
        writes: expired.flatMap((row) => [write(settlements, row.id, row), ...settlementEvents(row, assets)]),
        answer: expired,
      };
    },
  };
}
