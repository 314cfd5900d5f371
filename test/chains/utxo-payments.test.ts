import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Version } from '../../src/chains/driver.ts';
import { chainOf } from '../../src/chains/utxo/chain.ts';
import { dustLimit } from '../../src/chains/utxo/fees.ts';
import { scriptOf } from '../../src/chains/utxo/script.ts';
import { amountOf } from '../../src/chains/utxo/select.ts';
import { transactionFrom } from '../../src/chains/utxo/transaction.ts';
import { kindsOfThisRun, startLiar, startNode, type TestNode } from './utxo-node.ts';
import {
  CONFIRMATIONS,
  createWallet,
  fund,
  minerAddressesOf,
  settingsOf,
  signal,
  strangerOf,
  type TestWallet,
} from './utxo-wallet.ts';

const HOUR_MS = 3_600_000;

describe.each(kindsOfThisRun.map((kind) => [kind.program, kind] as const))(
  'payments on %s',
  (_name, kind) => {
    let node: TestNode;
    let wallet: TestWallet;

    beforeAll(async () => {
      node = await startNode(kind, minerAddressesOf(kind.network));
      wallet = createWallet(kind.network, [node], { replacement: kind.replaces });
      await fund(node, wallet);
    });
    afterAll(() => node.stop());

    /** What each address got in the blocks that the node has, by the scanner of a stranger. */
    async function arrived(address: string): Promise<bigint[]> {
      const found: bigint[] = [];
      const { height } = await wallet.driver.head(AbortSignal.timeout(60_000));
      for (let at = Math.max(1, height - 12); at <= height; at += 1) {
        const block = await wallet.driver.block(at, (one) => one === address, AbortSignal.timeout(60_000));
        found.push(...block.received.map(({ units }) => units));
      }
      return found;
    }

    it('makes a hundred payments in one transaction, to all kinds of addresses, to the unit', async () => {
      const payments = wallet.payments(Array.from({ length: 120 }, (_, index) => 100_000n + BigInt(index)));
      const assignment = await wallet.plan(payments);
      expect(assignment.payments).toEqual(payments.slice(0, 100));
      const version = (await wallet.version(assignment))!;
      expect(await wallet.observe(assignment, [version])).toEqual({ kind: 'unseen' });
      await wallet.broadcast(version);
      expect(await wallet.observe(assignment, [version])).toEqual({ kind: 'unseen' });
      await node.mine(1);
      const { hash: txHash } = version;
      const txIndexes = assignment.payments.map((_, index) => String(index));
      expect(await wallet.observe(assignment, [version])).toEqual({
        kind: 'mined',
        have: 1,
        need: CONFIRMATIONS,
        txHash,
        txIndexes,
      });
      for (const index of [0, 1, 2, 3, 4, 57, 99])
        expect(await arrived(payments[index]!.address)).toEqual([payments[index]!.units]);
      expect(await arrived(payments[100]!.address)).toEqual([]);
      await node.mine(CONFIRMATIONS - 1);
      const height: unknown = expect.any(Number);
      const final = {
        kind: 'final',
        succeeded: true,
        feeUnits: version.feeUnitsMax,
        height,
        txHash,
        txIndexes,
      };
      expect(await wallet.observe(assignment, [version])).toEqual(final);
      const before = wallet.coins();
      await wallet.scan();
      const change = wallet.coins().find((coin) => coin.txHash === txHash)!;
      const spentUnits = assignment.coins.reduce((sum, { units }) => sum + units, 0n);
      const paidUnits = assignment.payments.reduce((sum, { units }) => sum + units, 0n);
      expect(change).toMatchObject({ units: spentUnits - paidUnits - version.feeUnitsMax, path: '1/0' });
      expect(before).not.toContainEqual(change);
      wallet.open.pop();
      expect(wallet.coins().map((coin) => `${coin.txHash}:${coin.output}`)).not.toContain(
        `${assignment.coins[0]!.txHash}:${assignment.coins[0]!.output}`,
      );
    });

    it('broadcasts the same transaction as often as needed, mined or not, and with its outputs spent or not', async () => {
      const assignment = await wallet.plan(wallet.payments([200_000n], 200));
      const version = (await wallet.version(assignment))!;
      await wallet.broadcast(version);
      await wallet.broadcast(version);
      await node.mine(1);
      await wallet.broadcast(version);
      await wallet.scan();
      const payment = assignment.payments[0]!;
      expect(await arrived(payment.address)).toEqual([200_000n]);
    });

    it('makes a payment that the mempool has lost once it is broadcast again', async () => {
      const assignment = await wallet.plan(wallet.payments([300_000n], 300));
      const version = (await wallet.version(assignment))!;
      await wallet.broadcast(version);
      await node.restart();
      await node.mine(1);
      expect(await wallet.observe(assignment, [version])).toEqual({ kind: 'unseen' });
      await wallet.broadcast(version);
      await node.mine(1);
      expect(await wallet.observe(assignment, [version])).toMatchObject({
        kind: 'mined',
        txHash: version.hash,
      });
      await wallet.scan();
    });

    it('replaces a version by one that pays more where nodes allow that, with the same coins and payments', async () => {
      const assignment = await wallet.plan(wallet.payments([400_000n, 500_000n], 400));
      const first = (await wallet.version(assignment, [], HOUR_MS))!;
      await wallet.broadcast(first);
      expect(await wallet.version(assignment, [{ ...first, signedAtMs: Date.now() }])).toBeUndefined();
      const second = await wallet.version(assignment, [{ ...first, signedAtMs: Date.now() - 100 * HOUR_MS }]);
      if (!wallet.chain.hasReplacement) {
        expect(second).toBeUndefined();
        await node.mine(1);
        await wallet.scan();
        return;
      }
      const [old, replacement] = [transactionFrom(first.bytes), transactionFrom(second!.bytes)];
      const outpoints = (one: typeof old) => one.inputs.map(({ txHash, output }) => [txHash, output]);
      expect(outpoints(replacement)).toEqual(outpoints(old));
      expect(replacement.outputs.slice(0, 2)).toEqual(old.outputs.slice(0, 2));
      expect(second!.feeUnitsMax).toBeGreaterThan(first.feeUnitsMax);
      await wallet.broadcast(second!);
      await expect(wallet.broadcast(first)).rejects.toThrow();
      await node.mine(1);
      expect(await wallet.observe(assignment, [first, second!])).toMatchObject({
        kind: 'mined',
        txHash: second!.hash,
      });
      expect(await arrived(assignment.payments[1]!.address)).toEqual([500_000n]);
      await wallet.scan();
    });

    it('finds the older of two versions if that is the one in the chain', async () => {
      const assignment = await wallet.plan(wallet.payments([600_000n], 600));
      const first = (await wallet.version(assignment))!;
      const second = await wallet.version(assignment, [{ ...first, signedAtMs: Date.now() - 100 * HOUR_MS }]);
      await wallet.broadcast(first);
      await node.mine(CONFIRMATIONS);
      const versions = [first, second].filter((one): one is Version => one !== undefined);
      const { feeUnitsMax: feeUnits, hash: txHash } = first;
      expect(await wallet.observe(assignment, versions)).toEqual({
        kind: 'final',
        succeeded: true,
        feeUnits,
        height: expect.any(Number),
        txHash,
        txIndexes: ['0'],
      });
      if (second !== undefined) await expect(wallet.broadcast(second)).rejects.toThrow();
      await wallet.scan();
    });

    it('says that an assignment is superseded once another transaction has spent its coin for good', async () => {
      const assignment = await wallet.plan(wallet.payments([700_000n], 700));
      const version = (await wallet.version(assignment))!;
      const other = { ...assignment, id: 'foreign', payments: wallet.payments([800_000n], 800) };
      const foreign = (await wallet.version(other))!;
      await wallet.broadcast(foreign);
      await node.mine(1);
      expect(await wallet.observe(assignment, [version])).toMatchObject({ kind: 'undecided' });
      await node.mine(CONFIRMATIONS - 1);
      expect(await wallet.observe(assignment, [version])).toEqual({ kind: 'superseded', by: foreign.hash });
      await wallet.scan();
    });

    it('pays at addresses that are written in the form of the main chain too', async () => {
      const [payment] = wallet.payments([900_000n], 900);
      const address = strangerOf(chainOf(kind.network, 'main'), 900);
      expect(address).not.toBe(payment!.address);
      await wallet.broadcast((await wallet.version(await wallet.plan([{ ...payment!, address }])))!);
      await node.mine(1);
      expect(await arrived(payment!.address)).toEqual([900_000n]);
    });

    it('has a limit of dust that is exactly that of the node', async () => {
      await wallet.scan();
      const kinds = wallet.chain.hasSegwit ? 5 : 3;
      for (let index = 0; index < kinds; index += 1) {
        const address = strangerOf(wallet.chain, index);
        const least = dustLimit(wallet.chain, scriptOf(wallet.chain, address)!);
        const payment = { key: 'dust', asset: wallet.chain.asset, units: least, address };
        const assignment = await wallet.plan([payment]);
        await expect(wallet.plan([{ ...payment, units: least - 1n }])).rejects.toThrow(
          `relay at least ${amountOf(wallet.chain, least)}`,
        );
        const less = { ...assignment, payments: [{ ...payment, units: least - 1n }] };
        await expect(wallet.broadcast((await wallet.version(less))!)).rejects.toThrow();
        await wallet.broadcast((await wallet.version(assignment))!);
        await node.mine(1);
        await wallet.scan();
      }
    });

    it('waits while nodes ask for more than the bound, and says how much', async () => {
      const { fees } = settingsOf(kind.network, [node]);
      const modest = createWallet(kind.network, [node], { fees: { ...fees, maxRate: 1_500n } });
      const plan = await modest.driver.plan(wallet.lane(), wallet.payments([1_000_000n], 950), signal());
      expect(plan).toEqual({
        kind: 'wait',
        code: 'fee-too-high',
        reason: 'nodes ask for 2000 units per 1,000 vbytes, the bound is 1500',
      });
      // What has its coins already is sent at the bound, and is mined when fees have fallen.
      const assignment = await wallet.plan(wallet.payments([1_000_000n], 951));
      expect((await modest.version(assignment))!.feeRate).toBe(1_500n);
    });

    it('pays what the node estimates', async () => {
      const estimates = wallet.chain.hasSegwit
        ? { estimatesmartfee: '{"feerate":0.00007890,"blocks":3}' }
        : { estimatefee: '7.89e-05' };
      const proxy = await startLiar(node, undefined, estimates);
      try {
        const assignment = await wallet.plan(wallet.payments([1_000_000n], 960));
        const guided = createWallet(kind.network, [{ ...node, settings: proxy.settings }]);
        expect((await guided.version(assignment))!.feeRate).toBeGreaterThanOrEqual(7_890n);
        expect((await guided.version(assignment))!.feeRate).toBeLessThan(7_900n);
      } finally {
        await proxy.stop();
      }
    });
  },
);
