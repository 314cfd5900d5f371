import type { Static } from 'typebox';
import { Problem, unavailable } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import type { Command, Outcome } from '../ledger/command.ts';
import { DECIDES_ALONE } from '../ledger/hand-over.ts';
import type { Ended } from '../ledger/write-path.ts';
import type { TransferConnections } from './access.ts';
import { type InsideKind, insideTransferCommand } from './platform.ts';
import type { TransferTables } from './request.ts';
import type { PlatformTransferRequest } from './schema.ts';
import { findTransfer } from './store.ts';
import { newGroupId, sideIds, transferText } from './transfer.ts';

type Request = Static<typeof PlatformTransferRequest>;

/** What a node hands over: everything that the command depends on. The ids are made where the request arrives. */
type Order = {
  readonly kind: InsideKind;
  readonly group: string;
  readonly caller: Omit<Caller, 'scopes' | 'pointsPerSecond' | 'person'>;
  readonly request: Request;
};

export type InsideTransfer = Omit<Order, 'caller'> & {
  readonly caller: Caller;
  readonly command: Command<string>;
};

function orderOf({ kind, group, request, caller }: InsideTransfer): Order {
  const { scopes: _scopes, pointsPerSecond: _rate, person: _person, ...acting } = caller;
  return { kind, group, request, caller: acting };
}

/** Transfers inside the service, executed by this node or by the one that decides. */
export type InsideTransfers = {
  /** Throws a problem if the request is invalid by itself. */
  prepare(kind: InsideKind, caller: Caller, request: Request): InsideTransfer;
  submit(transfer: InsideTransfer): Promise<Outcome<string>>;
  submitAll(transfers: readonly InsideTransfer[]): Promise<readonly Ended<string>[]>;
};

/** Executed by another node with the same ids. */
const isReplayOf = ({ command }: InsideTransfer, outcome: Outcome<string>): boolean =>
  outcome.replayed && outcome.resourceId === command.key!.resourceId;

/** A retry is safe only with a ref_id. Without one there is no Retry-After header, which clients might follow. */
function unknownOutcome({ command }: InsideTransfer): Problem {
  const detail = 'The node that executed the request was lost, and the outcome is not known yet.';
  if (command.key !== undefined) return unavailable(`${detail} Retry with the same ref_id.`);
  const advice = 'The request had no ref_id: check whether it was executed before you repeat it.';
  return new Problem('unavailable', `${detail} ${advice}`);
}

const ended = (outcome: Promise<Outcome<string>>): Promise<Ended<string>> =>
  outcome.then(
    (one) => ({ outcome: one }),
    (error: unknown) => ({ error }),
  );

export function createInsideTransfers(dependencies: TransferConnections & TransferTables): InsideTransfers {
  const { database, writePath, assets, handOver = DECIDES_ALONE } = dependencies;

  /** The transfer itself, if the other node has executed it. */
  async function executed({ caller, group }: InsideTransfer): Promise<Outcome<string> | undefined> {
    const { customerId } = caller;
    const [debitId] = sideIds(group);
    const transfer = await findTransfer(database.of(customerId), customerId, debitId);
    return transfer && { replayed: false, answer: transferText(transfer, assets) };
  }

  /**
   * The other node was lost before it replied: it may have executed the transfer, or may still do so. The same command, with the same
   * ids, can be executed once: the primary key of transfers, or the ref_id, refuses the second one, whichever that is. A refusal says
   * nothing about the other node, which may have spent the funds on this very transfer: then the outcome is not known.
   */
  async function submitAgain(transfer: InsideTransfer): Promise<Outcome<string>> {
    try {
      const before = await executed(transfer);
      if (before !== undefined) return before;
      const again = await ended(writePath.submit(transfer.command));
      const isOwn = 'error' in again || isReplayOf(transfer, again.outcome);
      const meanwhile = isOwn ? await executed(transfer) : undefined;
      if (meanwhile !== undefined) return meanwhile;
      if ('outcome' in again) return again.outcome;
    } catch {
      // The database could not be asked.
    }
    throw unknownOutcome(transfer);
  }

  async function submitElsewhere(transfer: InsideTransfer): Promise<Outcome<string>> {
    const reply = await handOver.send(JSON.stringify(orderOf(transfer)));
    if (reply === 'lost') return submitAgain(transfer);
    if (reply === 'declined') return writePath.submit(transfer.command);
    if ('error' in reply) throw reply.error;
    return reply.outcome;
  }

  handOver.serve((text) => {
    const { kind, caller, request, group } = JSON.parse(text) as Order;
    const acting = { ...caller, scopes: NO_SCOPES };
    try {
      return ended(writePath.submit(insideTransferCommand(kind, acting, request, dependencies, group)));
    } catch (error) {
      return Promise.resolve({ error });
    }
  });

  return {
    prepare(kind, caller, request) {
      const group = newGroupId(database.shards());
      const command = insideTransferCommand(kind, caller, request, dependencies, group);
      return { kind, group, caller, request, command };
    },
    submit: (transfer) =>
      handOver.isElsewhere() ? submitElsewhere(transfer) : writePath.submit(transfer.command),
    submitAll: (transfers) =>
      handOver.isElsewhere()
        ? Promise.all(transfers.map((transfer) => ended(submitElsewhere(transfer))))
        : writePath.submitAll(transfers.map(({ command }) => command)),
  };
}

/** The node that handed the request over has checked the scopes. */
const NO_SCOPES: ReadonlySet<string> = new Set();
