import type { Static } from 'typebox';
import { type Charge, chargeOf, type Given, readGiven } from '../fees/charge.ts';
import { type DestinationRules, readDestination } from '../fees/destination.ts';
import { feeFault, type GuaranteedFee, noFeeProblem } from '../fees/guaranteed-fee.ts';
import { notionalValue, type PriceSource } from '../fees/prices.ts';
import type { FeeSchedule } from '../fees/schedule.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import { invalidField, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import {
  type Command,
  type Decision,
  read,
  refuse,
  type Table,
  type View,
  write,
} from '../ledger/command.ts';
import type { Networks } from '../networks/register.ts';
import { destinationOf, type PolicySet } from '../policies/policy.ts';
import { transferKey } from '../transfers/request.ts';
import type { Transfer } from '../transfers/transfer.ts';
import {
  hold,
  normalised,
  pendingWithdrawal,
  type WithdrawalTables,
  withdrawalFault,
  withdrawalReads,
} from './create.ts';
import type { CryptoWithdrawalRequest } from './schema.ts';
import { queued } from './words.ts';

export type CryptoWithdrawalTables = WithdrawalTables & {
  readonly guaranteedFees: Table<GuaranteedFee>;
  readonly schedule: FeeSchedule;
  readonly prices: PriceSource;
  readonly networks: Networks;
};

type Request = Static<typeof CryptoWithdrawalRequest>;

/** The operator's own stablecoin can be debited as USD, one to one. */
const USD = 'USD';

function readBalanceAsset(fields: Fields, request: Request, assets: Assets): void {
  const { asset, balance_asset: balanceAsset } = request;
  const known = assets.find(asset);
  if (balanceAsset === undefined || known === undefined) return;
  if (known.operatorMinted !== true) {
    fields.fault('/balance_asset', `is only for the operator's own stablecoin, not for ${asset}`);
  } else if (balanceAsset !== asset && balanceAsset !== USD) {
    fields.fault('/balance_asset', `must be ${asset} or ${USD}`);
  }
}

/** Validates what depends only on the request. */
function readRequest(request: Request, rules: DestinationRules): Given {
  const { assets } = rules;
  const fields = createFields(assets);
  const asset = readDestination(fields, request, rules);
  readBalanceAsset(fields, request, assets);
  const { beneficiary } = request;
  if (
    beneficiary !== undefined &&
    (beneficiary.person_details === undefined) === (beneficiary.institution_details === undefined)
  ) {
    fields.fault('/beneficiary', 'must have either person_details or institution_details');
  }
  const given = readGiven(fields, request, asset);
  fields.check();
  return given!;
}

/** The guaranteed fee, or the one of the schedule; a problem if neither applies. */
function chargeFor(
  caller: Caller,
  request: Request,
  given: Given,
  view: View,
  tables: CryptoWithdrawalTables,
): Charge | Problem {
  const { asset, crypto_network: network, fee_id: feeId } = request;
  const { assets } = tables;
  if (feeId === undefined) {
    const feeUnits = tables.schedule.crypto(asset, network);
    return feeUnits === undefined ? noFeeProblem(asset) : chargeOf(given, feeUnits, asset, assets);
  }
  const fee = view.row(tables.guaranteedFees, feeId);
  const { customerId } = caller;
  const use = { feeId, fee, customerId, destination: request, now: view.now };
  const fault = feeFault(use, tables.networks);
  if (fault !== undefined) return fault;
  const { amountUnits, feeUnits } = fee!;
  const charge = chargeOf(given, feeUnits, asset, assets);
  if (charge instanceof Problem || charge.amountUnits <= amountUnits) return charge;
  return invalidField(
    `/${given.field}`,
    `sends ${assets.format(asset, charge.amountUnits)} ${asset}, the fee_id is for at most ${assets.format(asset, amountUnits)}`,
  );
}

/** The total in the debited asset: the same value, never rounded. */
function balanceUnitsOf(
  totalUnits: bigint,
  asset: string,
  balanceAsset: string,
  given: Given,
  assets: Assets,
): bigint | Problem {
  const { decimals } = assets.get(balanceAsset);
  const surplus = assets.get(asset).decimals - decimals;
  if (surplus <= 0) return totalUnits * 10n ** BigInt(-surplus);
  const scale = 10n ** BigInt(surplus);
  if (totalUnits % scale === 0n) return totalUnits / scale;
  const message = `makes a total of ${assets.format(asset, totalUnits)} ${asset}, and ${balanceAsset} has ${decimals} decimals`;
  return new Problem('exceeds-precision', `${given.field} ${message}.`, {
    asset: balanceAsset,
    max_decimals: decimals,
    errors: [{ pointer: `/${given.field}`, message }],
  });
}

/** What is known before the decision. The price is read in advance, because the rule can run more than once. */
type Order = {
  readonly id: string;
  readonly caller: Caller;
  readonly request: Request;
  readonly given: Given;
  readonly price: bigint | undefined;
  readonly set: PolicySet;
  readonly destination: string;
};

function decideWithdrawal(order: Order, view: View, tables: CryptoWithdrawalTables): Decision<Transfer> {
  const { id, caller, request, given, price } = order;
  const { asset, crypto_network: network } = request;
  const { assets, guaranteedFees } = tables;
  const fault = withdrawalFault(caller, request, view, tables);
  if (fault !== undefined) return refuse(fault);
  if (!tables.hasRail(network)) {
    return refuse(invalidField('/crypto_network', `${network} has no configured rail on this service`));
  }
  const charge = chargeFor(caller, request, given, view, tables);
  if (charge instanceof Problem) return refuse(charge);
  const balanceAsset = request.balance_asset ?? asset;
  const balanceUnits = balanceUnitsOf(charge.totalUnits, asset, balanceAsset, given, assets);
  if (balanceUnits instanceof Problem) return refuse(balanceUnits);
  const kind = {
    type: 'CRYPTO_WITHDRAWAL',
    asset,
    balanceAsset,
    balanceUnits,
    secondaryStatus: queued(network),
  } as const;
  const transfer: Transfer = {
    ...pendingWithdrawal(id, caller, request, charge, kind, view.recordedAt),
    destinationAddress: request.destination_address,
    cryptoNetwork: network,
    notionalValue: notionalValue(price, assets, asset, charge.totalUnits) ?? null,
    beneficiary: request.beneficiary ?? null,
    feeId: request.fee_id ?? null,
  };
  const to = { rail: network, destination: order.destination, set: order.set, by: actorOf(caller) };
  if (request.fee_id === undefined) return hold(transfer, to, view, tables);
  const used = { ...view.row(guaranteedFees, request.fee_id)!, usedBy: id };
  return hold(transfer, to, view, tables, [write(guaranteedFees, request.fee_id, used)]);
}

export function cryptoWithdrawalCommand(
  caller: Caller,
  request: Request,
  set: PolicySet,
  tables: CryptoWithdrawalTables,
): Command<Transfer> {
  const { assets, guaranteedFees } = tables;
  const { asset, balance_asset: balanceAsset, ...others } = request;
  const given = readRequest(request, tables);
  const { crypto_network: network, destination_address: address } = request;
  const destination = destinationOf({ network, address: tables.networks.canonicalAddress(network, address) });
  const order = {
    id: newId(),
    caller,
    request,
    given,
    price: tables.prices.find(asset),
    set,
    destination,
  };
  // A `balance_asset` that equals the asset means the same as an omitted one.
  const asked = { ...others, asset, ...(balanceAsset === asset ? {} : { balance_asset: balanceAsset }) };
  return {
    actor: actorOf(caller),
    customerId: caller.customerId,
    key: transferKey(
      caller.customerId,
      'CRYPTO_WITHDRAWAL',
      order.id,
      normalised(asked, given, (units) => assets.format(asset, units)),
    ),
    balances: [{ profileId: request.profile_id, asset: balanceAsset ?? asset }],
    reads: [
      ...withdrawalReads(request, { set, destination }, tables),
      ...(request.fee_id === undefined ? [] : [read(guaranteedFees, request.fee_id)]),
    ],
    decide: (view) => decideWithdrawal(order, view, tables),
  };
}
