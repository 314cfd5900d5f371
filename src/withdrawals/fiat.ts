import type { Static } from 'typebox';
import { chargeOf, type Given, readGiven } from '../fees/charge.ts';
import type { FeeSchedule } from '../fees/schedule.ts';
import type { FiatAccount } from '../fiat-accounts/fiat-account.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table } from '../ledger/command.ts';
import type { Networks } from '../networks/register.ts';
import { destinationOf, type PolicySet } from '../policies/policy.ts';
import { requireForThirdParty, transferKey } from '../transfers/request.ts';
import type { Transfer } from '../transfers/transfer.ts';
import {
  hold,
  normalised,
  pendingWithdrawal,
  type WithdrawalTables,
  withdrawalFault,
  withdrawalReads,
} from './create.ts';
import type { FiatWithdrawalRequest } from './schema.ts';
import { awaitingApproval, queued, type Words } from './words.ts';

export type FiatWithdrawalTables = WithdrawalTables & {
  readonly fiatAccounts: Table<FiatAccount>;
  readonly schedule: FeeSchedule;
  readonly networks: Networks;
};

type Request = Static<typeof FiatWithdrawalRequest>;

/** The only asset of fiat withdrawals. */
const USD = 'USD';

/** Validates what depends only on the request. */
function readRequest(caller: Caller, request: Request, assets: Assets): Given {
  const fields = createFields(assets);
  if (request.asset !== USD) fields.fault('/asset', `must be ${USD}, the only asset of fiat withdrawals`);
  requireForThirdParty(fields, caller, request, ['identity_id', 'account_id']);
  const given = readGiven(fields, request, USD);
  fields.check();
  return given!;
}

/** The account of another customer is reported as not found; a deleted or rejected one of the caller is named. */
function fiatAccountFault(
  caller: Caller,
  request: Request,
  account: FiatAccount | undefined,
  networks: Networks,
): Problem | undefined {
  if (account?.customerId !== caller.customerId) return notFound('fiat account', request.fiat_account_id);
  if (account.deletedAtNs !== null) return invalidField('/fiat_account_id', 'names a deleted fiat account');
  if (account.status === 'REJECTED') return invalidField('/fiat_account_id', 'names a rejected fiat account');
  const { memoLengthMax } = networks.fiat(account.kind);
  if (request.memo !== undefined && Array.from(request.memo).length > memoLengthMax) {
    return invalidField(
      '/memo',
      `must have at most ${memoLengthMax} characters for a ${account.kind} withdrawal`,
    );
  }
  return undefined;
}

function waitsFor(account: FiatAccount): Words {
  return account.status === 'PENDING' ? awaitingApproval(account) : queued(account.kind);
}

export function fiatWithdrawalCommand(
  caller: Caller,
  request: Request,
  set: PolicySet,
  tables: FiatWithdrawalTables,
): Command<Transfer> {
  const { assets, fiatAccounts, schedule, networks } = tables;
  const given = readRequest(caller, request, assets);
  const id = newId();
  const destination = destinationOf({ fiatAccountId: request.fiat_account_id });
  const canonical = normalised(request, given, (units) => assets.format(USD, units));
  return {
    actor: actorOf(caller),
    customerId: caller.customerId,
    key: transferKey(caller.customerId, 'FIAT_WITHDRAWAL', id, canonical),
    balances: [{ profileId: request.profile_id, asset: USD }],
    reads: [
      ...withdrawalReads(request, { set, destination }, tables),
      read(fiatAccounts, request.fiat_account_id),
    ],
    decide(view) {
      const account = view.row(fiatAccounts, request.fiat_account_id);
      const fault =
        withdrawalFault(caller, request, view, tables) ??
        fiatAccountFault(caller, request, account, networks);
      if (fault !== undefined) return refuse(fault);
      if (!tables.hasRail(account!.kind)) {
        const message = `is paid over ${account!.kind}, which has no configured rail on this service`;
        return refuse(invalidField('/fiat_account_id', message));
      }
      const charge = chargeOf(given, schedule.fiat(account!.kind), USD, assets);
      if (charge instanceof Problem) return refuse(charge);
      const kind = {
        type: networks.fiat(account!.kind).withdrawalType,
        asset: USD,
        balanceAsset: USD,
        balanceUnits: charge.totalUnits,
        secondaryStatus: waitsFor(account!),
      };
      const pending = pendingWithdrawal(id, caller, request, charge, kind, view.recordedAt);
      const transfer = { ...pending, fiatAccountId: account!.id };
      const by = actorOf(caller);
      return hold(transfer, { rail: account!.kind, destination, set, by }, view, tables);
    },
  };
}
