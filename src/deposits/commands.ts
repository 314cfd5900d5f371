import type { Static } from 'typebox';
import { canonicalRequest } from '../kernel/canonical.ts';
import { createFields } from '../kernel/fields.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, write } from '../ledger/command.ts';
import {
  actorProblem,
  actorReads,
  ownProfileProblem,
  requireForThirdParty,
  type TransferTables,
} from '../transfers/request.ts';
import type { depositAddressRequest, depositInstructionsRequest } from './schema.ts';
import { type DepositAddress, type DepositInstructions, type DepositOwner, kindOfNetwork } from './way.ts';

export type WayTables = Pick<TransferTables, 'assets' | 'profiles' | 'actors'> & {
  readonly newAddresses: Table<DepositAddress>;
  readonly newInstructions: Table<DepositInstructions>;
};

type WayRequest = {
  readonly profile_id: string;
  readonly ref_id?: string;
  readonly identity_id?: string;
  readonly account_id?: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

type Way = DepositOwner & { id: string; refId: string | null; createdAtNs: bigint };

/** Addresses and memos are created alike: for an active profile of the caller, once for each ref_id. */
function wayCommand<Row extends Way>(
  caller: Caller,
  request: WayRequest,
  target: { id: string; space: string; table: Table<Row>; complete(way: Way): Row },
  tables: WayTables,
): Command<Row> {
  const { customerId } = caller;
  const fields = createFields(tables.assets);
  requireForThirdParty(fields, caller, request, ['identity_id', 'account_id']);
  fields.check();
  const { id, space, table } = target;
  const { ref_id: refId } = request;
  const canonical = canonicalRequest(request);
  return {
    key: refId === undefined ? undefined : { customerId, space, refId, resourceId: id, request: canonical },
    balances: [],
    reads: [read(tables.profiles, request.profile_id), ...actorReads(tables.actors, request, '')],
    decide(view) {
      const fault =
        ownProfileProblem(view, tables.profiles, request.profile_id, customerId) ??
        actorProblem(view, tables.actors, request, '', customerId);
      if (fault !== undefined) return refuse(fault);
      const row = target.complete({
        id,
        customerId,
        profileId: request.profile_id,
        refId: refId ?? null,
        identityId: request.identity_id ?? null,
        accountId: request.account_id ?? null,
        metadata: request.metadata ?? null,
        createdAtNs: view.recordedAt,
      });
      return { accepted: true, causeId: id, postings: [], writes: [write(table, id, row)], answer: row };
    },
  };
}

export function depositAddressCommand(
  caller: Caller,
  request: Static<ReturnType<typeof depositAddressRequest>>,
  made: { readonly id: string; readonly address: string },
  tables: WayTables,
): Command<DepositAddress> {
  const { crypto_network: cryptoNetwork } = request;
  const { id, address } = made;
  const complete = (way: Way): DepositAddress => ({ ...way, cryptoNetwork, address });
  const target = { id, space: 'deposit_addresses', table: tables.newAddresses, complete };
  return wayCommand(caller, request, target, tables);
}

export function depositInstructionsCommand(
  caller: Caller,
  request: Static<ReturnType<typeof depositInstructionsRequest>>,
  made: { readonly id: string; readonly memoId: string; readonly instructions: object },
  tables: WayTables,
): Command<DepositInstructions> {
  const { id, memoId, instructions } = made;
  const kind = kindOfNetwork(request.fiat_network);
  const complete = (way: Way): DepositInstructions => ({ ...way, kind, memoId, instructions });
  const target = { id, space: 'fiat_deposit_instructions', table: tables.newInstructions, complete };
  return wayCommand(caller, request, target, tables);
}
