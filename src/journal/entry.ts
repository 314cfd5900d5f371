import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { AccountRef, Posting } from '../ledger/command.ts';
import type { JournalKind } from './kinds.ts';

/** What a journal entry corrects, reverses, returns or ends. With a leg: only that leg of a settlement transaction. */
export type Corrects = {
  readonly type: 'TRANSFER' | 'SETTLEMENT' | 'JOURNAL_ENTRY';
  readonly id: string;
  readonly legId: string | null;
};

/**
 * A movement of value that no customer requested. It moves value itself, by `postings`, which have the entry as their cause; or
 * through the transfer that it creates or ends. Entries are only ever inserted.
 */
export type JournalEntry = {
  readonly id: string;
  readonly kind: JournalKind;
  /** Of the client that booked it. */
  readonly customerId: string;
  readonly actor: string;
  readonly refId: string;
  readonly reason: string;
  readonly reference: string;
  /** For the customers concerned; the reason is not shown to them. */
  readonly note: string | null;
  readonly createdAtNs: Instant;
  readonly asset: string | null;
  readonly amountUnits: bigint | null;
  readonly rail: string | null;
  readonly account: string | null;
  readonly output: number | null;
  readonly profileIds: readonly string[];
  readonly assets: readonly string[];
  readonly corrects: Corrects | null;
  /** The cause of the entries that it corrects. */
  readonly correctsCauseId: string | null;
  readonly transferId: string | null;
  readonly suspenseDepositId: string | null;
  readonly outcome: 'PAID' | 'NOT_PAID' | null;
  readonly postings: readonly Posting[];
  /** The journal entry that reversed it. */
  readonly reversedBy: string | null;
};

function presentAccount(ref: AccountRef) {
  return 'profileId' in ref ? { profile_id: ref.profileId } : { account: ref.account };
}

export function presentCorrects({ type, id, legId }: Corrects) {
  return { type, id, ...(legId !== null && { leg_id: legId }) };
}

/** The decimals of an asset that is not configured are unknown: its amounts are in units. */
function amountOf(asset: string, units: bigint, assets: Assets) {
  return assets.find(asset) === undefined
    ? { amount_units: units.toString() }
    : { amount: assets.format(asset, units) };
}

/** As operators see it. */
export function presentEntry(entry: JournalEntry, assets: Assets) {
  const { asset, amountUnits, rail, account, output, corrects, transferId, suspenseDepositId } = entry;
  const { note, outcome, reversedBy } = entry;
  return {
    id: entry.id,
    kind: entry.kind,
    actor: entry.actor,
    ref_id: entry.refId,
    reason: entry.reason,
    reference: entry.reference,
    ...(note !== null && { note }),
    created_at: formatInstant(entry.createdAtNs),
    ...(asset !== null && { asset }),
    ...(asset !== null && amountUnits !== null && amountOf(asset, amountUnits, assets)),
    ...(rail !== null && { rail }),
    ...(account !== null && { account }),
    ...(output !== null && { output }),
    profile_ids: [...entry.profileIds],
    ...(corrects !== null && { corrects: presentCorrects(corrects) }),
    ...(transferId !== null && { transfer_id: transferId }),
    ...(suspenseDepositId !== null && { suspense_deposit_id: suspenseDepositId }),
    ...(outcome !== null && { outcome }),
    postings: entry.postings.map(({ asset: moved, units, from, to }) => ({
      asset: moved,
      ...amountOf(moved, units, assets),
      from: presentAccount(from),
      to: presentAccount(to),
    })),
    ...(reversedBy !== null && { reversed_by: reversedBy }),
  };
}
