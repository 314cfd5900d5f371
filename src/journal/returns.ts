import { createHash } from 'node:crypto';
import { workerActor } from '../kernel/actor.ts';
import { isId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import type { ArrivedDeposit, RailName } from '../rails/rail.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type Booker, type Booking, comparable } from './command.ts';
import type { OrderOf } from './order.ts';
import type { JournalSources, Parts } from './plan.ts';
import { railOfWithdrawal } from './targets.ts';

/** Money that came back after a withdrawal was COMPLETED, as its rail reports it. */
export type Returned = {
  /** Of the payment: the id of the transfer. */
  readonly key: string;
  readonly arrived: ArrivedDeposit;
};

type Dependencies = Parts & {
  /** Books a journal entry once, in the name of a rail. Throws a problem if it is refused. */
  book(booker: Booker, booking: Booking): Promise<unknown>;
  /** Credits what arrived, or keeps it in suspense, once. */
  arrive(arrived: ArrivedDeposit): Promise<{ readonly replayed?: boolean }>;
  trouble(what: string, facts: object): void;
};

/** The same return has the same ref_id, whoever reports it and however often. */
function refIdOf(arrived: ArrivedDeposit): string {
  const identity =
    'txHash' in arrived
      ? [arrived.txHash, arrived.output, arrived.address, arrived.asset]
      : [arrived.account, arrived.reference];
  const digest = createHash('sha256').update(JSON.stringify([arrived.rail, ...identity]));
  return `return-${digest.digest('base64url')}`;
}

function bookingOf({ key: transferId, arrived }: Returned, { tables }: Parts): Booking {
  const { asset, amountUnits: units, rail } = arrived;
  const place =
    'txHash' in arrived
      ? { reference: arrived.txHash, account: arrived.address, output: arrived.output }
      : { reference: arrived.reference, account: arrived.account, output: null };
  const { reference, ...where } = place;
  const order: OrderOf<'WITHDRAWAL_RETURN'> = {
    kind: 'WITHDRAWAL_RETURN',
    transferId,
    asset,
    units,
    ...where,
  };
  const refId = refIdOf(arrived);
  const request = {
    operation: order.kind,
    ref_id: refId,
    transfer_id: transferId,
    reference,
    asset,
    ...where,
  };
  return {
    order,
    refId,
    reason: `The ${rail} rail reports that the payment came back.`,
    reference,
    note: null,
    request: comparable(request, order, tables.assets),
  };
}

/** The withdrawal that the rail was asked to pay; undefined if there is none. */
async function withdrawalOf(
  { key, arrived }: Returned,
  sources: JournalSources,
): Promise<Transfer | undefined> {
  const transfer = isId(key) ? await sources.transfers.byId(key) : undefined;
  const rail: RailName | undefined = transfer && (await railOfWithdrawal(transfer, sources));
  return rail === arrived.rail ? transfer : undefined;
}

/** Refusals that are about the return itself; others pass. */
const ABOUT_THE_RETURN = [
  'invalid-request',
  'exceeds-precision',
  'invalid-state',
  'already-exists',
  'not-found',
];

const isAboutReturn = (error: unknown): error is Problem =>
  error instanceof Problem && ABOUT_THE_RETURN.includes(error.slug);

/**
 * Books a return as a journal entry that is linked to its withdrawal. The money has arrived, so it cannot be refused: what
 * cannot be booked as a return is kept in suspense. While the withdrawal is PENDING, the return waits: the notice is retried.
 */
export function createReturned(dependencies: Dependencies): (returned: Returned) => Promise<void> {
  const { sources, book, arrive, trouble } = dependencies;
  return async (returned) => {
    const { key, arrived } = returned;
    const transfer = await withdrawalOf(returned, sources);
    let why = 'there is no such withdrawal over that rail';
    if (transfer !== undefined) {
      if (transfer.status === 'PENDING')
        throw new Error(`the ${arrived.rail} rail reports a return of ${key}, which is not COMPLETED yet`);
      try {
        const { rail } = arrived;
        const booker = {
          clientId: `rail:${rail}`,
          customerId: transfer.customerId,
          actor: workerActor('rail-notices'),
        };
        await book(booker, bookingOf(returned, dependencies));
        return;
      } catch (error) {
        if (!isAboutReturn(error)) throw error;
        why = error.message;
      }
    }
    const { replayed } = await arrive(arrived);
    if (replayed === true) return;
    trouble('a return could not be booked, and is in suspense', { rail: arrived.rail, key, why });
  };
}
