import { newId } from '../../src/kernel/id.ts';
import type { WritePath } from '../../src/ledger/write-path.ts';
import { createSettlementCommand, moveSettlementCommand } from '../../src/settlement/commands.ts';
import { settleCommand } from '../../src/settlement/engine/commands.ts';
import { newSettlements, settlements } from '../../src/settlement/store.ts';
import type { Settlement } from '../../src/settlement/transaction.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { insideTransferCommand } from '../../src/transfers/platform.ts';
import { engineTables } from '../settlement/settlement-world.ts';
import { byBank, createWays, onChain } from '../support/deposits.ts';
import { EVIDENCE } from '../support/journal.ts';
import { assets } from '../support/ledger.ts';
import { deriveAddress } from '../support/networks.ts';
import type { Node, World } from '../support/payouts.ts';

/** Ids of one record of each kind, all made by the real operations. */
export type History = Awaited<ReturnType<typeof makeHistory>>;

async function answerOf<T>(writePath: WritePath, command: Parameters<typeof writePath.submit<T>>[0]) {
  const outcome = await writePath.submit(command);
  if (outcome.replayed) throw new Error('replayed');
  return outcome.answer;
}

async function settle(world: World, node: Node, source: string, target: string): Promise<string> {
  const tables = { assets, profiles: SHARED_TABLES.profiles, newSettlements, settlements };
  const request = {
    source_profile_id: source,
    target_profile_id: target,
    legs: [
      { direction: 'DELIVER', asset: 'USD', amount: '3' },
      { direction: 'RECEIVE', asset: 'ETH', amount: '0.5' },
    ],
  } as const;
  const proposed = await answerOf(
    node.writePath,
    createSettlementCommand(world.caller, request as never, tables),
  );
  const affirmed = await answerOf<Settlement>(
    node.writePath,
    moveSettlementCommand(world.caller, 'affirm', proposed, tables),
  );
  const settled = await answerOf(node.writePath, settleCommand([affirmed], engineTables));
  if (settled.length !== 1) throw new Error('not settled');
  return affirmed.id;
}

async function feeFor(world: World, destination: string): Promise<string> {
  const id = newId();
  await world.database.query(
    `insert into guaranteed_fees (id, customer_id, asset, crypto_network, destination_address, amount_units, fee_units,
                                  created_at_ns, expires_at_ns)
     values ($1, $2, 'ETH', 'ETHEREUM', $3, 1000000000000000000, 5, 0, 9000000000000000000)`,
    [id, world.caller.customerId, destination],
  );
  return id;
}

export async function makeHistory(world: World, node: Node) {
  const book = (kind: string, fields: object): Promise<{ id: string; transfer_id: string }> =>
    node.operate('bookJournalEntry', { body: { kind, ref_id: newId(), ...EVIDENCE, ...fields } });
  const money = () => ({ asset: 'USD', amount: '50', rail: 'wire', account: 'own', reference: newId() });
  const [ada, bob] = [await world.createProfile({ USD: '5000' }), await world.createProfile({ ETH: '9' })];
  const ways = createWays(world, () => node);
  const account = await world.createAccount('wire');

  const inside = { ...SHARED_TABLES, assets };
  const parties = { from_profile_id: ada, to_profile_id: bob, asset: 'USD', amount: '7' };
  const text = await answerOf(
    node.writePath,
    insideTransferCommand('PLATFORM', world.caller, parties, inside),
  );
  const platform = JSON.parse(text) as { id: string; group_id: string };
  const destination_address = deriveAddress('ETHEREUM', 'somebody');
  const eth = { asset: 'ETH', crypto_network: 'ETHEREUM', destination_address } as const;
  const fee = await feeFor(world, destination_address);
  const charged = await world.withdrawCrypto(bob, { ...eth, fee_id: fee });
  const converted = await world.withdrawCrypto(ada, {
    asset: 'PUSD',
    crypto_network: 'ETHEREUM',
    balance_asset: 'USD',
    amount: '10',
  });
  const paid = await world.withdrawFiat(ada, account);
  const failed = await world.withdrawFiat(ada, account, { memo: 'sandbox:refuse' });
  await world.settle(node);
  const pending = await world.withdrawFiat(ada, await world.createAccount('wire', 'PENDING'));
  const credited = await node.arrivals.arrive(onChain(await ways.addressOf(bob, 'ETHEREUM')));
  const wired = await node.arrivals.arrive(byBank(await ways.memoOf(bob, 'WIRE')));
  const kept = await node.arrivals.arrive(byBank('NOBODY'));
  const other = await node.arrivals.arrive(byBank('NOBODY'));
  const open = await node.arrivals.arrive(byBank('NOBODY'));
  const suspense = (one: typeof kept): string => one.body.suspense_deposit!.id;
  const manual = await book('MANUAL_DEPOSIT', { profile_id: ada, ...money() });
  const suspenseCredit = await book('SUSPENSE_CREDIT', {
    suspense_deposit_id: suspense(kept),
    profile_id: bob,
  });
  await book('SUSPENSE_RETURN', { suspense_deposit_id: suspense(other) });
  const funding = await book('TREASURY_FUNDING', money());
  await book('SWEEP', { source: 'fees', asset: 'USD' });
  await book('TREASURY_PAYOUT', { asset: 'USD', amount: '1', rail: 'wire' });
  await book('WRITE_OFF', { asset: 'USD', amount: '1', profile_id: ada });
  const { rail: _, ...back } = money();
  const returned = await book('WITHDRAWAL_RETURN', { ...back, transfer_id: paid.id });
  const correction = await book('CORRECTION', {
    corrects: { type: 'TRANSFER', id: platform.id },
    asset: 'USD',
    amount: '1',
    from: { profile_id: bob },
    to: { profile_id: ada },
  });
  await book('REVERSAL', { corrects: { type: 'JOURNAL_ENTRY', id: correction.id } });
  return {
    ada,
    bob,
    fee,
    group: platform.group_id,
    debit: platform.id,
    settlement: await settle(world, node, ada, bob),
    charged: charged.id,
    converted: converted.id,
    paid: paid.id,
    failed: failed.id,
    pending: pending.id,
    credited: credited.body.transfer!.id as string,
    wired: wired.body.transfer!.id as string,
    kept: suspense(kept),
    open: suspense(open),
    manual: manual.transfer_id,
    suspenseCredit: suspenseCredit.transfer_id,
    funding: funding.id,
    returned: returned.id,
    correction: correction.id,
  };
}
