import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installedKinds, startNode, type TestNode } from './utxo-node.ts';
import { CONFIRMATIONS, createWallet, fund, minerAddressesOf, type TestWallet } from './utxo-wallet.ts';

describe.each(installedKinds.map((kind) => [kind.program, kind] as const))(
  'reorganisations on %s',
  (_name, kind) => {
    let node: TestNode;
    let wallet: TestWallet;

    beforeAll(async () => {
      node = await startNode(kind, minerAddressesOf(kind.network));
      wallet = createWallet(kind.network, [node]);
      await fund(node, wallet);
    });
    afterAll(() => node.stop());

    /** Takes the newest blocks back. What was in them waits in the mempool again. */
    async function takeBack(blocks: number): Promise<void> {
      const height = await node.rpc('getblockcount');
      await node.rpc('invalidateblock', await node.rpc('getblockhash', height - blocks + 1));
    }

    /** Pays the wallet's own address for deposits, as a customer of it would. */
    async function deposit(units: bigint, path = '0/1') {
      const payment = { key: 'deposit', asset: wallet.chain.asset, units, address: wallet.address(path) };
      const assignment = await wallet.plan([payment]);
      const version = (await wallet.version(assignment))!;
      await wallet.broadcast(version);
      return { assignment, version };
    }

    const deposits = (units: bigint) => wallet.coins().filter((coin) => coin.units === units);

    it.each([1, 10])(
      'a payment in a block that is replaced, %i deep, is seen again where it is now',
      async (depth) => {
        await wallet.scan();
        // The wallet does not know the coins of these blocks, so those that it spends are in older ones.
        await node.mine(depth + 2);
        const assignment = await wallet.plan(wallet.payments([1_000_000n], depth));
        const version = (await wallet.version(assignment))!;
        await wallet.broadcast(version);
        await node.mine(1);
        expect(await wallet.observe(assignment, [version])).toMatchObject({ kind: 'mined', have: 1 });
        // Ten blocks reach behind the one at which the assignment was made.
        await takeBack(depth);
        expect(await wallet.observe(assignment, [version])).toEqual({ kind: 'unseen' });
        // Nodes differ in what they keep; broadcasting is always right.
        await wallet.broadcast(version);
        await node.mine(1);
        const { hash: txHash } = version;
        expect(await wallet.observe(assignment, [version])).toEqual({
          kind: 'mined',
          have: 1,
          need: CONFIRMATIONS,
          txHash,
          txIndexes: ['0'],
        });
        await node.mine(depth + CONFIRMATIONS);
        expect(await wallet.observe(assignment, [version])).toMatchObject({ kind: 'final', txHash });
        await wallet.scan();
      },
    );

    it('a deposit in a block that is replaced by one that has it too is the same deposit', async () => {
      const before = wallet.rewinds();
      const { version } = await deposit(1_111_111n);
      await node.mine(2);
      await wallet.scan();
      const [first] = deposits(1_111_111n);
      expect(first).toMatchObject({ txHash: version.hash, output: 0, address: wallet.address('0/1') });
      await takeBack(2);
      await wallet.broadcast(version);
      await node.mine(3);
      await wallet.scan();
      expect(wallet.rewinds()).toBeGreaterThan(before);
      expect(deposits(1_111_111n)).toEqual([first]);
    });

    it('a deposit in a block that is replaced by one without it is gone', async () => {
      await deposit(2_222_222n);
      await node.mine(1);
      await wallet.scan();
      expect(deposits(2_222_222n)).toHaveLength(1);
      await takeBack(1);
      await node.restart();
      await node.mine(2);
      await wallet.scan();
      expect(deposits(2_222_222n)).toEqual([]);
    });

    it('what a block pays its miner counts once it can be spent, and not before', async () => {
      const { length } = wallet.blocks;
      await node.mine(1);
      await wallet.scan();
      const mined = (await node.rpc('getblock', wallet.blocks.at(-1)!.hash, 1)).tx[0] as string;
      expect(wallet.coins().map(({ txHash }) => txHash)).not.toContain(mined);
      await node.mine(98);
      await wallet.scan();
      expect(wallet.coins().map(({ txHash }) => txHash)).not.toContain(mined);
      await node.mine(1);
      await wallet.scan();
      expect(wallet.coins().find(({ txHash }) => txHash === mined)).toMatchObject({
        height: length + 99,
      });
    });

    it('a scan that starts in the middle finds the same as one that read everything', async () => {
      const fresh = createWallet(kind.network, [node]);
      const { height } = wallet.blocks.at(-1)!;
      const isOurs = (address: string): boolean => address === wallet.address('0/0');
      for (const at of [height, height - 50]) {
        const block = await fresh.driver.block(at, isOurs, AbortSignal.timeout(60_000));
        expect(block.received).toEqual(wallet.blocks[at]!.received.filter(({ address }) => isOurs(address)));
      }
    });
  },
);
