import { type Actor, workerActor } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { notFound } from '../kernel/problem.ts';
import {
  type Command,
  type Decision,
  type Posting,
  read,
  refuse,
  type Table,
  write,
} from '../ledger/command.ts';
import type { FailureReason, OnChain, RailName } from '../rails/rail.ts';
import { transferEvent } from '../transfers/event.ts';
import type { Movement } from '../transfers/movement.ts';
import { clearingAccount } from '../transfers/rails.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { Note } from './notes.ts';
import type { Work, WorkWrite } from './states.ts';
import { paid, refusedByRail, type Words } from './words.ts';

/** How a withdrawal ends. */
export type Ending =
  | ({ readonly kind: 'completed'; readonly detail: string } & OnChain)
  | {
      readonly kind: 'failed';
      readonly words: Words;
      /** Why, for operators only. `words` are what the customer is shown. */
      readonly note?: Omit<Note, 'atNs' | 'transferId'>;
      readonly statusDetails?: object;
    };

/** The customer is shown the public reason, operators also what only they may know. */
export function failedByRail(rail: string, { reason, privateReason = reason }: FailureReason): Ending {
  const note = { kind: 'RAIL_REASON', detail: privateReason, notedBy: `rail:${rail}` } as const;
  return { kind: 'failed', words: refusedByRail(reason), note };
}

function statusAfter(ending: Ending): 'COMPLETED' | 'FAILED' {
  return ending.kind === 'completed' ? 'COMPLETED' : 'FAILED';
}

export type Contradiction = {
  readonly transferId: string;
  readonly rail: string;
  readonly reported: 'COMPLETED' | 'FAILED';
  /** PENDING: the rail was not asked to pay it. */
  readonly recorded: Transfer['status'];
  readonly detail: string;
  readonly atNs: Instant;
};

export type OutcomeTables = {
  readonly assets: Assets;
  readonly transfers: Table<Transfer>;
  readonly works: Table<WorkWrite>;
  readonly contradictions: Table<Contradiction>;
  readonly notes: Table<Note>;
  /** Withdrawals that have FAILED use nothing of the limits. */
  readonly releasedUses: Table<{ readonly transferId: string }>;
};

export type Ended = {
  /**
   * - `same`: it had ended in the same way before.
   * - `contradiction`: it had ended differently, or that rail was not asked to pay it. Recorded for an operator.
   * - `unconfirmed`: a notice alone cannot end it; the rail has to be asked.
   * - `stale`: the worker has lost its lease.
   */
  readonly effect: 'ended' | 'same' | 'contradiction' | 'unconfirmed' | 'stale';
  readonly transfer: Transfer;
};

/**
 * Moves what was held: the amount to the rail's clearing account, the fee to `fees`. With a conversion, the held asset
 * goes to `conversion` and the asset that is sent comes from there, so that this account shows what was exchanged.
 */
export function completionPostings(
  transfer: Transfer,
  rail: RailName,
  /** From `available` if creation and completion are seen as one movement. */
  account: 'held' | 'available' = 'held',
): Posting[] {
  const { asset, amountUnits, feeUnits, balanceAsset, balanceUnits, profileId } = transfer;
  const held = { profileId, account } as const;
  const conversion = { account: 'conversion' } as const;
  const converts = balanceAsset !== asset;
  const from = converts ? conversion : held;
  return [
    ...(converts ? [{ asset: balanceAsset, units: balanceUnits, from: held, to: conversion }] : []),
    { asset, units: amountUnits, from, to: clearingAccount(rail) },
    ...(feeUnits > 0n ? [{ asset, units: feeUnits, from, to: { account: 'fees' } as const }] : []),
  ];
}

/** Everything that was held returns, including the fee. */
function returnPostings({ profileId, balanceAsset, balanceUnits }: Transfer): Posting[] {
  const from = { profileId, account: 'held' } as const;
  const to = { profileId, account: 'available' } as const;
  return [{ asset: balanceAsset, units: balanceUnits, from, to }];
}

function endedTransfer(transfer: Transfer, ending: Ending, now: Instant): Transfer {
  const updatedAtNs = now > transfer.updatedAtNs ? now : transfer.updatedAtNs + 1n;
  if (ending.kind === 'failed') {
    const { words: secondaryStatus, statusDetails = null } = ending;
    return { ...transfer, status: 'FAILED', updatedAtNs, secondaryStatus, statusDetails };
  }
  return {
    ...transfer,
    status: 'COMPLETED',
    updatedAtNs,
    secondaryStatus: paid(ending.detail),
    cryptoTxHash: ending.txHash ?? transfer.cryptoTxHash ?? null,
    cryptoTxIndex: ending.txIndex ?? transfer.cryptoTxIndex ?? null,
  };
}

function unchanged(transfer: Transfer, effect: Ended['effect']): Decision<Ended> {
  return { accepted: true, causeId: transfer.id, postings: [], writes: [], answer: { effect, transfer } };
}

/** Posts nothing, and records the report for an operator. */
function contradict(
  transfer: Transfer,
  { rail, ending }: Report,
  now: Instant,
  tables: OutcomeTables,
): Decision<Ended> {
  const { id: transferId, status: recorded } = transfer;
  const reported = statusAfter(ending);
  const detail = ending.kind === 'completed' ? ending.detail : (ending.note?.detail ?? ending.words.detail);
  const row: Contradiction = { transferId, rail, reported, recorded, detail, atNs: now };
  const key = [transferId, rail, reported, recorded].join('/');
  return {
    accepted: true,
    causeId: transferId,
    postings: [],
    writes: [write(tables.contradictions, key, row)],
    answer: { effect: 'contradiction', transfer },
  };
}

export type EndingTables = Omit<OutcomeTables, 'contradictions'>;

/** Ends a pending withdrawal: moves what was held, and deletes its work. */
export function endNow(
  transfer: Transfer,
  work: Work,
  ending: Ending,
  now: Instant,
  tables: EndingTables,
): Movement {
  const { id } = transfer;
  const next = endedTransfer(transfer, ending, now);
  return {
    transfer: next,
    postings:
      ending.kind === 'completed'
        ? completionPostings(transfer, work.rail as RailName)
        : returnPostings(transfer),
    writes: [
      write(tables.transfers, transfer.id, next),
      write(tables.works, transfer.id, { ...work, done: true }),
      transferEvent(next, tables.assets),
      ...(ending.kind === 'failed' ? [write(tables.releasedUses, id, { transferId: id })] : []),
      ...(ending.kind === 'failed' && ending.note !== undefined
        ? [write(tables.notes, id, { ...ending.note, transferId: id, atNs: now })]
        : []),
    ],
  };
}

export type Report = {
  readonly rail: string;
  readonly ending: Ending;
  /** The version of the work that the worker has seen; absent for reports that do not come from a worker. */
  readonly seenVersion?: bigint;
  /** The rail reported it without being asked. */
  readonly isNotice?: true;
  /** Who reports it, if it is not the worker that pays. */
  readonly actor?: Actor;
};

/** The worker that submits payments to rails and asks about them. */
export const PAYING = workerActor('withdrawals');

/** Why a report does not end a pending withdrawal. */
function obstacle(work: Work, { rail, isNotice }: Report): 'contradiction' | 'unconfirmed' | undefined {
  if (work.rail !== rail) return 'contradiction';
  if (isNotice !== true) return undefined;
  // Every call of the rail is recorded before it is made, so without an attempt there was no call.
  if (work.attempts === 0) return 'contradiction';
  // After a second request a notice may refer only to that one: a duplicate that was rejected, while the first is paid.
  return work.state === 'SUBMITTED' && work.attempts === 1 ? undefined : 'unconfirmed';
}

/** Ends a withdrawal once: by the first report, from a worker, a notice, or the user of the sandbox. */
export function endCommand(
  /** Only fields that never change are used. */
  seen: Pick<Transfer, 'id' | 'profileId' | 'balanceAsset'>,
  report: Report,
  tables: OutcomeTables,
): Command<Ended> {
  const { id, profileId, balanceAsset } = seen;
  const { ending, seenVersion } = report;
  return {
    actor: report.actor ?? PAYING,
    balances: [{ profileId, asset: balanceAsset }],
    reads: [read(tables.transfers, id), read(tables.works, id)],
    decide(view) {
      const transfer = view.row(tables.transfers, id);
      if (transfer === undefined) return refuse(notFound('transfer', id));
      if (transfer.status === statusAfter(ending)) return unchanged(transfer, 'same');
      if (transfer.status !== 'PENDING') return contradict(transfer, report, view.recordedAt, tables);
      const work = view.row(tables.works, id);
      if (work === undefined || work.done === true)
        throw new Error(`the pending withdrawal ${id} has no work`);
      if (seenVersion !== undefined && work.version !== seenVersion) return unchanged(transfer, 'stale');
      const found = obstacle(work, report);
      if (found === 'contradiction') return contradict(transfer, report, view.recordedAt, tables);
      if (found === 'unconfirmed') return unchanged(transfer, 'unconfirmed');
      const { transfer: next, postings, writes } = endNow(transfer, work, ending, view.recordedAt, tables);
      return {
        accepted: true,
        causeId: id,
        postings,
        writes,
        answer: { effect: 'ended', transfer: next },
      };
    },
  };
}
