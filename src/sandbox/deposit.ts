import { notionalValue, type PriceSource } from '../fees/prices.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, write } from '../ledger/command.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { Networks } from '../networks/register.ts';
import { transferEvent } from '../transfers/event.ts';
import { clearingAccount } from '../transfers/rails.ts';
import { ownProfileProblem, type TransferTables, transferKey } from '../transfers/request.ts';
import type { Transfer } from '../transfers/transfer.ts';

/** A deposit over a wire or a crypto network. */
export type Deposit = {
  readonly profile_id: string;
  readonly asset: string;
  readonly amount: string;
  readonly crypto_network?: CryptoNetwork;
  readonly ref_id?: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

export type DepositTables = Omit<TransferTables, 'endUsers'> & {
  readonly prices: PriceSource;
  readonly networks: Networks;
};

/** The crypto network of the deposit; undefined for fiat. Optional if the asset is on only one network. */
function readNetwork(
  fields: Fields,
  deposit: Deposit,
  { assets, networks }: { readonly assets: Assets; readonly networks: Networks },
): CryptoNetwork | undefined {
  const { asset, crypto_network: network } = deposit;
  const names = networks.cryptoNetworks.filter((name) => assets.get(asset).networks[name] !== undefined);
  if (names.length === 0) {
    if (network !== undefined)
      fields.fault('/crypto_network', `must be absent: ${asset} is not on a crypto network`);
    return undefined;
  }
  if (network === undefined && names.length > 1) {
    fields.fault('/crypto_network', `is required: ${asset} is on several networks (${names.join(', ')})`);
  } else if (network !== undefined && !names.includes(network)) {
    fields.fault('/crypto_network', `must be a network of ${asset}: ${names.join(', ')}`);
  }
  return network ?? names[0];
}

/** Credits a profile of that customer. The transfer is COMPLETED at once and has no fee. */
export function depositCommand(caller: Caller, deposit: Deposit, tables: DepositTables): Command<Transfer> {
  const { assets, profiles, newTransfers, prices } = tables;
  const { asset, profile_id: profileId } = deposit;
  const fields = createFields(assets);
  const known = fields.asset('/asset', asset);
  const units = fields.amount('/amount', deposit.amount, known)!;
  const network = known === undefined ? undefined : readNetwork(fields, deposit, tables);
  fields.check();
  const id = newId();
  const notional = network && notionalValue(prices.find(asset), assets, asset, units);
  const asked = { ...deposit, amount: assets.format(asset, units), crypto_network: network };
  const { customerId } = caller;
  return {
    actor: actorOf(caller),
    key: transferKey(customerId, 'DEPOSIT', id, asked),
    balances: [{ profileId, asset }],
    reads: [read(profiles, profileId)],
    decide(view) {
      const fault = ownProfileProblem(view, profiles, profileId, customerId);
      if (fault !== undefined) return refuse(fault);
      const transfer: Transfer = {
        id,
        customerId,
        profileId,
        type: network === undefined ? 'WIRE_DEPOSIT' : 'CRYPTO_DEPOSIT',
        direction: 'CREDIT',
        status: 'COMPLETED',
        asset,
        amountUnits: units,
        feeUnits: 0n,
        balanceAsset: asset,
        balanceUnits: units,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
        refId: deposit.ref_id ?? null,
        metadata: deposit.metadata ?? null,
        cryptoNetwork: network ?? null,
        notionalValue: notional ?? null,
      };
      const from = clearingAccount(network ?? 'wire');
      return {
        accepted: true,
        causeId: id,
        postings: [{ asset, units, from, to: { profileId, account: 'available' } }],
        writes: [write(newTransfers, id, transfer), transferEvent(transfer, assets)],
        answer: transfer,
      };
    },
  };
}
