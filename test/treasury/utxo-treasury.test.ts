import { Transaction } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TreasurySettings } from '../../src/chains/treasury-settings.ts';
import { hash160 } from '../../src/chains/utxo/bytes.ts';
import { chainOf } from '../../src/chains/utxo/chain.ts';
import { PSBT_OPTIONS } from '../../src/chains/utxo/psbt.ts';
import { addressOf, walletScript } from '../../src/chains/utxo/script.ts';
import { createUtxoWorld, hasLitecoind, type UtxoNode, type UtxoWorld } from '../support/utxo-world.ts';

/** The cold wallet and refills on a real node of a UTXO network. */

const KEY = new Uint8Array(32).fill(7);
const chain = chainOf('LITECOIN', 'regtest');
const COLD = addressOf(chain, walletScript(chain, hash160(pubECDSA(KEY))))!;
const LTC = 100_000_000n;

const settings: TreasurySettings = {
  coldAddress: COLD,
  low: new Map([['LTC', 50n * LTC]]),
  high: new Map([['LTC', 100n * LTC]]),
  sweepMin: new Map(),
};

describe.runIf(hasLitecoind)('the treasury of a UTXO network', () => {
  let world: UtxoWorld;
  let node: UtxoNode;
  /** Funds of the wallet from before, which the ledger does not know. */
  let given = 0n;

  const wallet = async () => (await node.treasury!.wallets())[0]!;
  async function rounds(count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      await world.turn(node);
      await node.wallets.run();
      await world.chain.mine(1);
    }
  }

  beforeAll(async () => {
    world = await createUtxoWorld(8, COLD);
    for (const worker of [...world.node.keepers, world.node.scanner]) await worker.stop();
    node = await world.createNode({ treasury: { ...settings, high: new Map() } });
    await rounds(2);
    given = (await wallet()).differenceUnits;
  });
  afterAll(() => world?.drop());

  it('sees a deposit as coins of the hot wallet, without a sweep', async () => {
    const profileId = await world.createProfile();
    const address = await world.depositAddress(node, profileId);
    await world.outsider.pay([{ address, units: 3n * LTC }]);
    await rounds(6);
    expect(await world.available(profileId, 'LTC')).toBe('3');
    expect(await wallet()).toMatchObject({ unsweptUnits: 0n, differenceUnits: given, coldUnits: 0n });
    expect((await wallet()).hotUnits).toBe(given + 3n * LTC);
  });

  it('moves what is above the high mark to the cold address, and books it with its fee', async () => {
    for (const worker of [...node.keepers, node.scanner, node.wallets]) await worker.stop();
    node = await world.createNode({ treasury: settings });
    await rounds(10);
    const moved = given + 3n * LTC - 75n * LTC;
    expect(await world.paidTo(COLD)).toEqual([moved]);
    expect((await world.ledger('cold:litecoin')).LTC).toBe(-moved);
    expect(await wallet()).toMatchObject({
      coldUnits: moved,
      coldLedgerUnits: -moved,
      differenceUnits: given,
    });
    await world.expectBooked();
  });

  it('refuses a refill that the cold wallet cannot pay', async () => {
    const refill = node.treasury!.refill('LTC', 10_000n * LTC, AbortSignal.timeout(30_000));
    await expect(refill).rejects.toThrow('not enough for 1000000000000 and the fee');
  });

  it('refills the hot wallet with a PSBT that people sign, and books its fee to the cold wallet', async () => {
    const before = await wallet();
    const fees = (await world.ledger('network-fees:litecoin')).LTC!;
    const file = await node.treasury!.refill('LTC', 20n * LTC, AbortSignal.timeout(30_000));
    expect(file).toMatchObject({ format: 'PSBT', summary: { from: COLD, to: world.change } });
    const psbt = Transaction.fromPSBT(Buffer.from(file.content, 'base64'), PSBT_OPTIONS);
    psbt.sign(KEY);
    psbt.finalize();
    await world.chain.rpc('sendrawtransaction', psbt.hex);
    await world.chain.mine(1);
    await rounds(5);
    const fee = BigInt(file.summary.fee_units!);
    expect(fee).toBeGreaterThan(0n);
    const after = await wallet();
    expect(after.coldUnits).toBe(before.coldUnits! - 20n * LTC - fee);
    expect(after.coldLedgerUnits).toBe(-after.coldUnits!);
    expect((await world.ledger('network-fees:litecoin')).LTC).toBe(fees - fee);
    expect(after.differenceUnits).toBe(given);
    await world.expectBooked();
  });
});
