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
import type { OnChain, RailName } from '../rails/rail.ts';
import { transferEvent } from './event.ts';
import { clearingAccount } from './rails.ts';
import type { Transfer } from './transfer.ts';
import { paid, refusedByRail, type Words } from './words.ts';
import type { WorkWrite } from './work.ts';

/** How a withdrawal ends. */
export type Ending =
  | ({ readonly kind: 'completed'; readonly detail: string } & OnChain)
  | {
      readonly kind: 'failed';
      readonly words: Words;
      /** What the rail said, if it was the rail: the words also say what was returned. */
      readonly reason?: string;
      readonly statusDetails?: object;
    };

export function failedByRail(reason: string): Ending {
  return { kind: 'failed', words: refusedByRail(reason), reason };
}

export type Contradiction = {
  readonly transferId: string;
  readonly rail: string;
  readonly reported: 'COMPLETED' | 'FAILED';
  readonly recorded: 'COMPLETED' | 'FAILED';
  readonly detail: string;
  readonly atNs: Instant;
};

export type OutcomeTables = {
  readonly assets: Assets;
  readonly transfers: Table<Transfer>;
  readonly works: Table<WorkWrite>;
  readonly contradictions: Table<Contradiction>;
};

export type Ended = {
  /** `same`: it had ended so before. `contradiction`: otherwise. `stale`: the worker has lost its lease. */
  readonly effect: 'ended' | 'same' | 'contradiction' | 'stale';
  readonly transfer: Transfer;
};

/**
 * What was held goes out: the amount to the rail's clearing account, the fee to `fees`. With a conversion the held
 * asset goes to `conversion`, and what was sent comes from there, so that the account shows what was exchanged.
 */
export function completionPostings(transfer: Transfer, rail: RailName): Posting[] {
  const { asset, amountUnits, feeUnits, balanceAsset, balanceUnits, profileId } = transfer;
  const held = { profileId, account: 'held' } as const;
  const conversion = { account: 'conversion' } as const;
  const converts = balanceAsset !== asset;
  const from = converts ? conversion : held;
  return [
    ...(converts ? [{ asset: balanceAsset, units: balanceUnits, from: held, to: conversion }] : []),
    { asset, units: amountUnits, from, to: clearingAccount(rail) },
    ...(feeUnits > 0n ? [{ asset, units: feeUnits, from, to: { account: 'fees' } as const }] : []),
  ];
}

/** All that was held returns, the fee too. */
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

/** Said again, or said otherwise: nothing is posted a second time, and what contradicts is kept for an operator. */
function decideLate(
  transfer: Transfer,
  reported: 'COMPLETED' | 'FAILED',
  { rail, ending }: Report,
  now: Instant,
  tables: OutcomeTables,
): Decision<Ended> {
  if (transfer.status === reported) return unchanged(transfer, 'same');
  const row: Contradiction = {
    transferId: transfer.id,
    rail,
    reported,
    recorded: transfer.status as Contradiction['recorded'],
    detail: ending.kind === 'completed' ? ending.detail : (ending.reason ?? ending.words.detail),
    atNs: now,
  };
  const decision = unchanged(transfer, 'contradiction');
  return {
    ...decision,
    writes: [write(tables.contradictions, `${transfer.id}/${reported}`, row)],
  } as typeof decision;
}

export type Report = {
  readonly rail: string;
  readonly ending: Ending;
  /** The work as its worker knows it; absent for reports that come by themselves. */
  readonly seenVersion?: bigint;
};

/** Ends a withdrawal once, whoever says so first: a worker, the rail by itself, or the user of the sandbox. */
export function endCommand(
  /** As it was seen: only what never changes is taken from it. */
  seen: Pick<Transfer, 'id' | 'profileId' | 'balanceAsset'>,
  report: Report,
  tables: OutcomeTables,
): Command<Ended> {
  const { id, profileId, balanceAsset } = seen;
  const { ending, seenVersion } = report;
  const reported = ending.kind === 'completed' ? 'COMPLETED' : 'FAILED';
  return {
    balances: [{ profileId, asset: balanceAsset }],
    reads: [read(tables.transfers, id), read(tables.works, id)],
    decide(view) {
      const transfer = view.row(tables.transfers, id);
      if (transfer === undefined) return refuse(notFound('transfer', id));
      if (transfer.status !== 'PENDING')
        return decideLate(transfer, reported, report, view.recordedAt, tables);
      const work = view.row(tables.works, id);
      if (work === undefined || work.done === true)
        throw new Error(`the pending withdrawal ${id} has no work`);
      if (seenVersion !== undefined && work.version !== seenVersion) return unchanged(transfer, 'stale');
      const next = endedTransfer(transfer, ending, view.recordedAt);
      return {
        accepted: true,
        causeId: id,
        postings:
          ending.kind === 'completed'
            ? completionPostings(transfer, work.rail as RailName)
            : returnPostings(transfer),
        writes: [
          write(tables.transfers, id, next),
          write(tables.works, id, { ...work, done: true }),
          transferEvent(next, tables.assets),
        ],
        answer: { effect: 'ended', transfer: next },
      };
    },
  };
}
