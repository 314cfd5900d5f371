import type { Static } from 'typebox';
import { invalidRequest, Problem } from '../kernel/problem.ts';
import type { Answer, Caller } from '../kernel/route.ts';
import type { Outcome } from '../ledger/command.ts';
import { usedOtherwise } from '../ledger/create.ts';
import { allOrNone, PartRefused } from '../ledger/group.ts';
import type { Ended } from '../ledger/write-path.ts';
import type { TransferConnections } from './access.ts';
import { atPlace, errorsOf, ofWhole, refuseRepeatedRefIds } from './bulk-problems.ts';
import type { InsideTransfer, InsideTransfers } from './inside.ts';
import type { TransferTables } from './request.ts';
import type { BulkTransferRequest } from './schema.ts';
import { findTransfers } from './store.ts';
import { transferText } from './transfer.ts';

/**
 * Many platform transfers in one request. Each is the same command as a single transfer, so everything that holds for single
 * ones holds here: the same ref_id is the same transfer, however it is sent.
 */
type Bulk = Static<typeof BulkTransferRequest>;
type Order = Bulk['transfers'][number];

/** What a bulk needs of its request. */
type Asked = { readonly caller: Caller; readonly body: Bulk; problemText(error: unknown): string };

/** How a transfer ended. The command of a transfer that is invalid by itself was never submitted. */
type Result = Ended<string>;

type Prepared = InsideTransfer | Problem;

export function createBulk(
  { database, writePath, assets }: TransferConnections & TransferTables,
  inside: InsideTransfers,
) {
  function prepare(caller: Caller, order: Order): Prepared {
    try {
      return inside.prepare('PLATFORM', caller, order);
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  /** The texts of transfers that exist already. */
  async function existing(customerId: string, outcomes: readonly Outcome<string>[]) {
    const ids = outcomes.flatMap((one) => (one.replayed ? [one.resourceId] : []));
    const found =
      ids.length === 0 ? new Map() : await findTransfers(database.of(customerId), customerId, ids);
    return (id: string): string => {
      const transfer = found.get(id);
      if (transfer === undefined) throw new Error(`the record ${id} of a replayed request is missing`);
      return transferText(transfer, assets);
    };
  }

  async function answerOf(asked: Asked, results: readonly Result[]): Promise<Answer<never>> {
    const { caller, body, problemText } = asked;
    const outcomes = results.flatMap((one) => ('outcome' in one ? [one.outcome] : []));
    const textOf = await existing(caller.customerId, outcomes);
    const texts = results.map((result, index) => {
      const refId = body.transfers[index]!.ref_id;
      const head = (status: number): string => `{"ref_id":${JSON.stringify(refId)},"status":${status}`;
      const failed = (error: unknown): string => {
        const problem = error instanceof Problem ? atPlace(error, index) : error;
        return `${head(error instanceof Problem ? error.status : 500)},"problem":${problemText(problem)}}`;
      };
      if ('error' in result) return failed(result.error);
      const { outcome } = result;
      if (!outcome.replayed) return `${head(200)},"transfer":${outcome.answer}}`;
      const shown = textOf(outcome.resourceId);
      if (outcome.differs.length > 0) return failed(usedOtherwise(refId, shown, outcome.differs));
      return `${head(200)},"replayed":true,"transfer":${shown}}`;
    });
    return { body: `{"results":[${texts.join(',')}]}` };
  }

  /** Nothing was looked at: the request as a whole is to be repeated. */
  function requireAny(results: readonly Result[]): void {
    const isUnavailable = (one: Result): boolean =>
      'error' in one && one.error instanceof Problem && one.error.slug === 'unavailable';
    if (results.every(isUnavailable)) throw (results[0] as { error: unknown }).error;
  }

  async function eachByItself(prepared: readonly Prepared[]): Promise<readonly Result[]> {
    const transfers = prepared.filter((one): one is InsideTransfer => !(one instanceof Problem));
    const ended = await inside.submitAll(transfers);
    let next = 0;
    const results = prepared.map((one): Result => {
      if (one instanceof Problem) return { error: one };
      next += 1;
      return ended[next - 1]!;
    });
    requireAny(results);
    return results;
  }

  /** Every transfer that is invalid by itself, at once. */
  function refuseInvalid(prepared: readonly Prepared[]): InsideTransfer[] {
    const faults = prepared.flatMap((one, index) => (one instanceof Problem ? [{ one, index }] : []));
    const [first] = faults;
    if (first === undefined) return prepared as InsideTransfer[];
    if (faults.length === 1) throw ofWhole(first.one, first.index);
    throw invalidRequest(faults.flatMap(({ one, index }) => errorsOf(atPlace(one, index))));
  }

  async function allTogether(
    { caller, body: { transfers } }: Asked,
    prepared: readonly Prepared[],
  ): Promise<readonly Result[]> {
    const command = allOrNone(refuseInvalid(prepared).map((one) => one.command));
    try {
      const outcome = await writePath.submit(command);
      if (!outcome.replayed) return outcome.answer.map((one) => ({ outcome: one }));
      const textOf = await existing(caller.customerId, [outcome]);
      const { resourceId, differs, part } = outcome;
      const refId = transfers[part!]!.ref_id;
      throw ofWhole(usedOtherwise(refId, textOf(resourceId), differs), part!);
    } catch (error) {
      if (!(error instanceof PartRefused)) throw error;
      throw ofWhole(error.problem, error.part);
    }
  }

  return async (asked: Asked): Promise<Answer<never>> => {
    const { transfers, atomic } = asked.body;
    refuseRepeatedRefIds(transfers);
    const prepared = transfers.map((order) => prepare(asked.caller, order));
    const results = atomic === true ? await allTogether(asked, prepared) : await eachByItself(prepared);
    return answerOf(asked, results);
  };
}
