import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { createUtxoWorld, hasLitecoind, payee, type UtxoWorld } from '../support/utxo-world.ts';

/** Withdrawals and deposits through the keeper, the scanner and the ledger, on a real node. */

describe.runIf(hasLitecoind)('coins of a UTXO network', () => {
  let world: UtxoWorld;

  beforeAll(async () => {
    world = await createUtxoWorld();
  });
  afterAll(() => world?.drop());

  const assignments = (keys: readonly string[]) =>
    world.database.query<{ id: string; purpose: string; feeUnits: bigint; txHash: string }>(
      `select distinct a.id, a.purpose, a.fee_units as "feeUnits", a.tx_hash as "txHash"
       from chain_assignments a join chain_assignment_payments p on p.assignment_id = a.id where p.key = any ($1::uuid[])`,
      [`{${keys.join(',')}}`],
    );

  it('leave with a withdrawal, once and to the unit, and the fee of the miners is booked', async () => {
    const profileId = await world.createProfile({ LTC: '10' });
    const { address, local } = payee(1);
    const { id } = await world.withdraw(profileId, 'LTC', '1.5', address);
    const [ended] = await world.settle(world.node, [id]);
    const [made] = await assignments([id]);
    expect(ended).toMatchObject({
      status: 'COMPLETED',
      cryptoTxHash: made!.txHash,
      cryptoTxIndex: '0',
    });
    expect(await world.paidTo(local)).toEqual([150_000_000n]);
    expect(made!.feeUnits > 0n).toBe(true);
    expect((await world.ledger('network-fees:litecoin')).LTC).toBe(-made!.feeUnits);
    await world.expectBooked();
  });

  it('arrive at a deposit address, are credited once at the depth of the policy, and can be sent on', async () => {
    const profileId = await world.createProfile();
    const address = await world.depositAddress(world.node, profileId);
    await world.outsider.pay([{ address, units: 300_000_000n }]);
    for (let block = 0; block < 2; block += 1) {
      await world.chain.mine(1);
      await world.turn(world.node);
    }
    expect(await world.available(profileId, 'LTC')).toBe('0');
    await world.chain.mine(1);
    await world.turn(world.node);
    await world.turn(world.node);
    expect(await world.available(profileId, 'LTC')).toBe('3');
    await world.expectBooked();
  });

  it('go to a hundred payees in one transaction, each at its own output', async () => {
    const profileId = await world.createProfile({ LTC: '20' });
    const payees = Array.from({ length: 100 }, (_, index) => payee(100 + index));
    const made = await Promise.all(
      payees.map(({ address }) => world.withdraw(profileId, 'LTC', '0.1', address)),
    );
    const ids = made.map(({ id }) => id);
    const ended = await world.settle(world.node, ids);
    expect(ended.every(({ status }) => status === 'COMPLETED')).toBe(true);
    const found = await assignments(ids);
    expect(new Set(ended.map(({ cryptoTxHash }) => cryptoTxHash)).size).toBe(found.length);
    const paid = await world.paid(payees.map(({ local }) => local));
    expect([...paid.values()]).toEqual(payees.map(() => [10_000_000n]));
    for (const [txHash, transfers] of Map.groupBy(ended, ({ cryptoTxHash }) => cryptoTxHash!)) {
      const outputs = await outputsOf(txHash);
      for (const { cryptoTxIndex, destinationAddress } of transfers) {
        const { local } = payees.find(({ address }) => address === destinationAddress)!;
        expect(outputs[Number(cryptoTxIndex)]).toBe(local);
      }
    }
    await world.expectBooked();
  });

  /** The addresses that a transaction of one of the last blocks pays. */
  async function outputsOf(txHash: string): Promise<string[]> {
    const height: number = await world.chain.rpc('getblockcount');
    for (let at = height; at > height - 30; at -= 1) {
      const { tx } = await world.chain.rpc('getblock', await world.chain.rpc('getblockhash', at), 2);
      const found = tx.find(({ txid }: { txid: string }) => txid === txHash);
      if (found !== undefined) return found.vout.map((one: any) => one.scriptPubKey.addresses?.[0]);
    }
    throw new Error(`${txHash} is in none of the last blocks`);
  }

  it('below what nodes relay, or back to the wallet itself, are refused at once and given back', async () => {
    const profileId = await world.createProfile({ LTC: '1' });
    const dust = await world.withdraw(profileId, 'LTC', '0.00001', payee(300).address);
    const [refused] = await world.settle(world.node, [dust.id], 3);
    expect(refused).toMatchObject({
      status: 'FAILED',
      secondaryStatus: {
        detail: expect.stringMatching(
          /is 0\.00001 LTC, nodes of LITECOIN relay at least 0\.0000\d+ LTC to this address/,
        ),
      },
    });
    expect(await world.available(profileId, 'LTC')).toBe('1');
    const [row] = await world.database.query('select state, taken from rail_payments where key = $1', [
      dust.id,
    ]);
    expect(row).toEqual({ state: 'FAILED', taken: false });
    const payment = {
      key: newId(),
      asset: 'LTC',
      units: 100_000_000n,
      address: world.change,
    };
    expect(world.node.driver.fault(payment)).toBe(
      `${world.change} is an address of the service's own wallet.`,
    );
  });

  it('that are change in no block yet pay the next withdrawals', async () => {
    const profileId = await world.createProfile({ LTC: '200' });
    const units = await world.database.query<{ units: bigint }>(
      'select units from chain_coins where assignment_id is null and spent_height is null order by units desc',
    );
    // Each takes the largest coin there is, until only change is left.
    const ids: string[] = [];
    for (let index = 0; index < units.length + 3; index += 1) {
      const { id } = await world.withdraw(profileId, 'LTC', '0.5', payee(400 + index).address);
      ids.push(id);
      await world.turn(world.node);
    }
    const [built] = await world.database.query<{ count: number }>(
      `select count(*)::integer as count from chain_coins c join chain_versions v on v.hash = c.tx_hash
       where c.height is null and c.assignment_id is not null`,
    );
    expect(built!.count).toBeGreaterThan(0);
    const ended = await world.settle(world.node, ids);
    expect(ended.every(({ status }) => status === 'COMPLETED')).toBe(true);
    await world.expectBooked();
  });
});
