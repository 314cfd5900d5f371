import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Assignment, Version } from '../../src/chains/driver.ts';
import { createUtxoDriver } from '../../src/chains/utxo/create.ts';
import { kindsOfThisRun, startLiar, startNode, type TestNode } from './utxo-node.ts';
import {
  CONFIRMATIONS,
  createWallet,
  fund,
  minerAddressesOf,
  settingsOf,
  signal,
  type TestWallet,
} from './utxo-wallet.ts';

describe.each(kindsOfThisRun.map((kind) => [kind.program, kind] as const))(
  'two nodes of %s',
  (_name, kind) => {
    let first: TestNode;
    let second: TestNode;
    let wallet: TestWallet;
    let assignment: Assignment;
    let version: Version;

    beforeAll(async () => {
      [first, second] = await Promise.all([
        startNode(kind, minerAddressesOf(kind.network)),
        startNode(kind, minerAddressesOf(kind.network)),
      ]);
      wallet = createWallet(kind.network, [first, second]);
      await fund(first, createWallet(kind.network, [first]));
      await follow();
      await wallet.scan();
      assignment = await wallet.plan(wallet.payments([1_000_000n]));
      version = (await wallet.version(assignment))!;
      await wallet.broadcast(version);
    });
    afterAll(() => Promise.all([first.stop(), second.stop()]));

    /** Gives the second node the blocks that it lacks. */
    async function follow(): Promise<void> {
      const height = await first.rpc('getblockcount');
      for (let at = (await second.rpc('getblockcount')) + 1; at <= height; at += 1)
        await second.rpc('submitblock', await first.rpc('getblock', await first.rpc('getblockhash', at), 0));
    }

    it('get every transaction', async () => {
      for (const node of [first, second]) expect(await node.rpc('getrawmempool')).toContain(version.hash);
    });

    it('need not be at the same height: one that is behind is waited for only if both must agree', async () => {
      await first.mine(CONFIRMATIONS + 5);
      const strict = createWallet(kind.network, [first, second], { agreement: 2 });
      const lagging = (await second.rpc('getblockcount')) as number;
      expect((await strict.driver.head(signal())).height).toBe(lagging);
      expect(await strict.observe(assignment, [version])).toEqual({ kind: 'unseen' });
      expect((await wallet.driver.head(signal())).height).toBe(lagging + CONFIRMATIONS + 5);
      expect(await wallet.observe(assignment, [version])).toMatchObject({
        kind: 'final',
        txHash: version.hash,
      });
      await follow();
      expect(await strict.observe(assignment, [version])).toMatchObject({
        kind: 'final',
        txHash: version.hash,
      });
    });

    it('that have different blocks decide nothing until they agree again', async () => {
      await wallet.scan();
      const next = await wallet.plan(wallet.payments([2_000_000n], 1));
      const nextVersion = (await wallet.version(next))!;
      await first.rpc('sendrawtransaction', nextVersion.bytes);
      await first.mine(CONFIRMATIONS);
      await second.mine(CONFIRMATIONS);
      expect(await wallet.observe(next, [nextVersion])).toMatchObject({
        kind: 'undecided',
        reason: /nodes disagree/,
      });
      await expect(wallet.driver.head(signal())).rejects.toThrow('nodes disagree about block');
      await expect(wallet.scan()).rejects.toThrow('nodes disagree about block');
      const plan = await wallet.driver.plan(wallet.lane(), wallet.payments([1_000_000n], 2), signal());
      expect(plan).toMatchObject({ kind: 'wait', code: 'nodes-disagree' });
      const findings = await wallet.driver.check(signal());
      expect(findings.find(({ what }) => what === 'nodes together')).toMatchObject({ isFault: true });

      const height = await second.rpc('getblockcount');
      await second.rpc('invalidateblock', await second.rpc('getblockhash', height - CONFIRMATIONS + 1));
      await first.mine(1);
      await follow();
      expect(await wallet.observe(next, [nextVersion])).toMatchObject({
        kind: 'final',
        txHash: nextVersion.hash,
      });
      await wallet.scan();
    });

    it('stand in for each other, and the wallet works again with those that come back', async () => {
      await first.stopProcess();
      const next = await wallet.plan(wallet.payments([3_000_000n], 3));
      const nextVersion = (await wallet.version(next))!;
      await wallet.broadcast(nextVersion);
      await second.mine(1);
      expect(await wallet.observe(next, [nextVersion])).toMatchObject({ kind: 'mined' });
      const strict = createWallet(kind.network, [first, second], { agreement: 2 });
      expect(await strict.observe(next, [nextVersion])).toMatchObject({
        kind: 'undecided',
        reason: /2 of 2 nodes of .* must be usable \(127\.0\.0\.1:\d+: .*ECONNREFUSED\)/,
      });
      expect(await strict.driver.plan(strict.lane(), [], signal())).toMatchObject({
        kind: 'wait',
        code: 'node-behind',
      });
    });

    it('are described by the check, with what is wrong', async () => {
      const findings = await wallet.driver.check(signal());
      const firstHost = new URL(first.settings.url).host;
      const secondHost = new URL(second.settings.url).host;
      expect(findings).toContainEqual({ what: 'chain', found: `${kind.network} (regtest)` });
      expect(findings).toContainEqual({
        what: `node ${firstHost}`,
        found: expect.stringContaining('ECONNREFUSED'),
        isFault: true,
      });
      expect(findings).toContainEqual({
        what: `node ${secondHost}`,
        found: expect.stringMatching(/^right chain, block \d+/),
      });
      expect(findings).toContainEqual({ what: `node ${secondHost}`, found: 'synchronised' });
      expect(findings).toContainEqual({ what: 'change address', found: wallet.address('1/0') });
      expect(findings.filter(({ isFault }) => isFault)).toHaveLength(1);
    });

    it('are refused on another chain or with another password', async () => {
      const settings = settingsOf(kind.network, [second]);
      const password = createUtxoDriver({ ...settings, nodes: [{ ...second.settings, password: 'wrong' }] });
      await expect(password.head(signal())).rejects.toThrow('refuses the user or the password');
      const other = kind.network === 'LITECOIN' ? 'BITCOIN' : 'LITECOIN';
      const chain = createUtxoDriver({ ...settings, network: other });
      await expect(chain.head(signal())).rejects.toThrow(`the node is not on ${other} (regtest)`);
    });

    it('that return another content than the hash of a block covers are not believed', async () => {
      await second.mine(1);
      const liar = await startLiar(second);
      try {
        const { height } = await wallet.driver.head(signal());
        const alone = createWallet(kind.network, [{ ...second, settings: liar.settings }]);
        await expect(alone.driver.block(height, () => true, signal())).rejects.toThrow(
          'does not match its header',
        );
        const both = createWallet(kind.network, [{ ...second, settings: liar.settings }, second]);
        const block = await both.driver.block(height, () => true, signal());
        expect(block).toEqual(await wallet.driver.block(height, () => true, signal()));
      } finally {
        await liar.stop();
      }
    });

    it('that accept a transaction without answering have it nevertheless, and it is paid once', async () => {
      await wallet.scan();
      const silent = await startLiar(second, 'sendrawtransaction');
      try {
        const next = await wallet.plan(wallet.payments([4_000_000n], 4));
        const nextVersion = (await wallet.version(next))!;
        const cut = createWallet(kind.network, [{ ...second, settings: silent.settings }]);
        await expect(cut.broadcast(nextVersion)).rejects.toThrow();
        await wallet.broadcast(nextVersion);
        await second.mine(1);
        expect(await wallet.observe(next, [nextVersion])).toMatchObject({
          kind: 'mined',
          txHash: nextVersion.hash,
        });
      } finally {
        await silent.stop();
      }
    });
  },
);
