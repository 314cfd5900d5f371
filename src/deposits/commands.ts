import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import { actorOf } from '../kernel/actor.ts';
import { createFields } from '../kernel/fields.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, write } from '../ledger/command.ts';
import { joinKey } from '../ledger/keys.ts';
import {
  endUserProblem,
  endUserReads,
  ownProfileProblem,
  requireForThirdParty,
  type TransferTables,
} from '../transfers/request.ts';
import type { depositAddressRequest, depositInstructionsRequest } from './schema.ts';
import {
  type DepositAddress,
  type DepositInstructions,
  type DepositTarget,
  kindOfNetwork,
} from './target.ts';

export type TargetTables = Pick<TransferTables, 'assets' | 'profiles' | 'endUsers'> & {
  readonly newAddresses: Table<DepositAddress>;
  readonly newInstructions: Table<DepositInstructions>;
};

type TargetRequest = {
  readonly profile_id: string;
  readonly ref_id?: string;
  readonly identity_id?: string;
  readonly account_id?: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

/** Addresses and memos are created in the same way: for an active profile of the caller, once for each ref_id. */
function targetCommand<Row extends DepositTarget>(
  caller: Caller,
  request: TargetRequest,
  kind: { id: string; space: string; table: Table<Row>; complete(target: DepositTarget): Row },
  tables: TargetTables,
): Command<Row> {
  const { customerId } = caller;
  const fields = createFields(tables.assets);
  requireForThirdParty(fields, caller, request, ['identity_id', 'account_id']);
  fields.check();
  const { id, space, table } = kind;
  const { ref_id: refId } = request;
  return {
    actor: actorOf(caller),
    customerId,
    key: refId === undefined ? undefined : { customerId, space, refId, resourceId: id, request },
    balances: [],
    reads: [read(tables.profiles, request.profile_id), ...endUserReads(tables.endUsers, request, '')],
    decide(view) {
      const fault =
        ownProfileProblem(view, tables.profiles, request.profile_id, customerId) ??
        endUserProblem(view, tables.endUsers, request, '', customerId);
      if (fault !== undefined) return refuse(fault);
      const row = kind.complete({
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
  tables: TargetTables,
): Command<DepositAddress> {
  const { crypto_network: cryptoNetwork } = request;
  const { id, address } = made;
  const complete = (target: DepositTarget): DepositAddress => ({ ...target, cryptoNetwork, address });
  const addressKind = { id, space: 'deposit_addresses', table: tables.newAddresses, complete };
  return targetCommand(caller, request, addressKind, tables);
}

/**
 * Refuses what the command would refuse, and writes nothing: some rails have a list of addresses, and one that is taken from it for
 * a request that is refused would be gone.
 */
export function examination<Row>(command: Command<Row>): Command<true> {
  const { key: _, ...others } = command;
  return {
    ...others,
    decide(view) {
      const decision = command.decide(view);
      if (!decision.accepted) return decision;
      return { accepted: true, causeId: decision.causeId, postings: [], writes: [], answer: true };
    },
  };
}

/** The rail gives the same address to the same key, so concurrent requests with one ref_id take one address. */
export function addressKey(customerId: string, refId: string): string {
  const bytes = createHash('sha256')
    .update(`deposit address ${joinKey(customerId, 'deposit_addresses', refId)}`)
    .digest()
    .subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function depositInstructionsCommand(
  caller: Caller,
  request: Static<ReturnType<typeof depositInstructionsRequest>>,
  made: { readonly id: string; readonly memoId: string; readonly instructions: object },
  tables: TargetTables,
): Command<DepositInstructions> {
  const { id, memoId, instructions } = made;
  const kind = kindOfNetwork(request.fiat_network);
  const complete = (target: DepositTarget): DepositInstructions => ({
    ...target,
    kind,
    memoId,
    instructions,
  });
  const instructionsKind = {
    id,
    space: 'fiat_deposit_instructions',
    table: tables.newInstructions,
    complete,
  };
  return targetCommand(caller, request, instructionsKind, tables);
}
