import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Assignment, Version } from '../../src/chains/driver.ts';
import { feeAt } from '../../src/chains/utxo/fees.ts';
import { readDetails } from '../../src/chains/utxo/versions.ts';
import { UTXO_LIMITS } from '../../src/limits-utxo.ts';
import { installedKinds, startNode, type TestNode } from './utxo-node.ts';
import {
  CONFIRMATIONS,
  createWallet,
  fund,
  minerAddressesOf,
  settingsOf,
  signal,
  type TestWallet,
} from './utxo-wallet.ts';

const HOUR_MS = 3_600_000;

describe.each(installedKinds.map((kind) => [kind.program, kind] as const))('change on %s', (_name, kind) => {
  let node: TestNode;
  let wallet: TestWallet;

  beforeAll(async () => {
    node = await startNode(kind, minerAddressesOf(kind.network));
    wallet = createWallet(kind.network, [node], { replacement: kind.replaces });
    await fund(node, wallet);
    await gather();
  });
  afterAll(() => node.stop());

  /** Pays everything that the wallet has to its own change address. Further blocks pay it too, but only after 100 more. */
  async function gather(): Promise<void> {
    const { coins } = wallet.lane();
    const [payment] = wallet.payments([1_000_000n]);
    const plan = await wallet.driver.plan(wallet.lane(), [payment!], signal());
    if (plan.kind === 'wait') throw new Error(plan.reason);
    const assignment = wallet.assign({ ...plan.draft, purpose: 'UPKEEP', coins, payments: [] });
    await wallet.broadcast((await wallet.version(assignment))!);
    await node.mine(1);
    await wallet.scan();
    wallet.open.pop();
  }

  /** Makes a payment from coins of the wallet's own change only. */
  async function pay(index: number): Promise<{ assignment: Assignment; version: Version }> {
    const lane = wallet.lane();
    const coins = lane.coins.filter(({ path }) => path === '1/0');
    const payments = wallet.payments([1_000_000n], index);
    const plan = await wallet.driver.plan({ ...lane, coins }, payments, signal());
    if (plan.kind === 'wait') throw new Error(`${plan.code}: ${plan.reason}`);
    const assignment = wallet.assign(plan.draft);
    const version = (await wallet.version(assignment, [], 100 * HOUR_MS))!;
    await wallet.broadcast(version);
    wallet.offerChange(assignment, version);
    return { assignment, version };
  }

  it('that is unconfirmed is spent if nothing else is left, up to a bound, and all of it is mined', async () => {
    const made = [];
    for (let index = 1; index <= UTXO_LIMITS.unconfirmedMax + 1; index += 1) made.push(await pay(index));
    for (const [index, { assignment }] of made.entries())
      expect(
        readDetails(assignment.details)
          .ancestors.map(({ hash }) => hash)
          .sort(),
      ).toEqual(
        made
          .slice(0, index)
          .map(({ version }) => version.hash)
          .sort(),
      );
    await expect(pay(100)).rejects.toThrow('busy: ');
    await node.mine(CONFIRMATIONS);
    for (const { assignment, version } of made)
      expect(await wallet.observe(assignment, [version])).toMatchObject({
        kind: 'final',
        txHash: version.hash,
      });
    wallet.open.length = 0;
    await wallet.scan();
  });

  it('that is spent already keeps a transaction from being replaced, and its child pays for both', async () => {
    const cheap = await pay(200);
    const dear = createWallet(kind.network, [node], {
      replacement: kind.replaces,
      fees: { ...settingsOf(kind.network, [node]).fees, fallbackRate: 20_000n },
    });
    const lane = { ...wallet.lane(), coins: wallet.lane().coins.filter(({ path }) => path === '1/0') };
    const plan = await dear.driver.plan(lane, wallet.payments([1_000_000n], 201), signal());
    if (plan.kind === 'wait') throw new Error(plan.reason);
    const child = wallet.assign(plan.draft);
    const childVersion = (await dear.version(child))!;
    const { ancestorsSize, ancestorsFeeUnits } = readDetails(child.details);
    expect(ancestorsFeeUnits).toBe(cheap.version.feeUnitsMax);
    expect(childVersion.feeUnitsMax + ancestorsFeeUnits).toBeGreaterThanOrEqual(
      feeAt(20_000n, ancestorsSize + 110n),
    );
    await wallet.broadcast(childVersion);
    // Without this knowledge the child would become impossible and be planned again: slower, but not wrong.
    if (kind.tellsSpends) expect(await wallet.version(cheap.assignment, [cheap.version])).toBeUndefined();
    await node.mine(1);
    expect(await wallet.observe(child, [childVersion])).toMatchObject({ kind: 'mined' });
    wallet.open.length = 0;
    await wallet.scan();
  });

  const superseded = async (): Promise<void> => {
    const parent = await pay(300);
    const lane = { ...wallet.lane(), coins: wallet.lane().coins.filter(({ path }) => path === '1/0') };
    const plan = await wallet.driver.plan(lane, wallet.payments([1_000_000n], 301), signal());
    if (plan.kind === 'wait') throw new Error(plan.reason);
    const child = wallet.assign(plan.draft);
    const childVersion = (await wallet.version(child))!;
    // The child was not broadcast yet, so nothing keeps its parent from being replaced.
    const second = (await wallet.version(parent.assignment, [parent.version]))!;
    await wallet.broadcast(second);
    await expect(wallet.broadcast(childVersion)).rejects.toThrow();
    await node.mine(1);
    expect(await wallet.observe(child, [childVersion])).toMatchObject({ kind: 'undecided' });
    await node.mine(CONFIRMATIONS - 1);
    expect(await wallet.observe(child, [childVersion])).toEqual({ kind: 'superseded', by: second.hash });
    wallet.open.length = 0;
    await wallet.scan();
  };
  if (kind.replaces)
    it('of a version that is not the one in the chain makes what spends it superseded', superseded);

  it('lifts a transaction that pays too little where nodes do not replace', async () => {
    const cheap = await pay(400);
    const dear = createWallet(kind.network, [node], {
      replacement: false,
      fees: { ...settingsOf(kind.network, [node]).fees, fallbackRate: 30_000n },
    });
    const plan = await dear.driver.plan(wallet.lane(), [], signal());
    if (plan.kind === 'wait') throw new Error(plan.reason);
    expect(plan.draft).toMatchObject({
      purpose: 'UPKEEP',
      payments: [],
      coins: [{ txHash: cheap.version.hash }],
    });
    const lift = wallet.assign(plan.draft);
    const version = (await dear.version(lift))!;
    expect(version.feeUnitsMax).toBeGreaterThan(cheap.version.feeUnitsMax * 14n);
    await wallet.broadcast(version);
    await node.mine(CONFIRMATIONS);
    expect(await wallet.observe(lift, [version])).toMatchObject({
      kind: 'final',
      feeUnits: version.feeUnitsMax,
    });
    expect(await wallet.observe(cheap.assignment, [cheap.version])).toMatchObject({ kind: 'final' });
    wallet.open.length = 0;
    await wallet.scan();
  });

  it('in many small coins is joined while fees are low, and not while they are high', async () => {
    const units = 3_000_000n;
    const address = wallet.address('0/1');
    const payments = Array.from({ length: 60 }, () => ({
      key: 'deposit',
      asset: wallet.chain.asset,
      units,
      address,
    }));
    await wallet.broadcast((await wallet.version(await wallet.plan(payments)))!);
    await node.mine(CONFIRMATIONS);
    await wallet.scan();
    wallet.open.length = 0;
    const [high, low] = [6_000n, 2_000n].map((fallbackRate) =>
      createWallet(kind.network, [node], {
        fees: { ...settingsOf(kind.network, [node]).fees, fallbackRate },
      }),
    );
    expect(await high!.driver.plan(wallet.lane(), [], signal())).toMatchObject({ kind: 'wait' });
    const plan = await low!.driver.plan(wallet.lane(), [], signal());
    if (plan.kind === 'wait') throw new Error(plan.reason);
    expect(plan.draft.purpose).toBe('UPKEEP');
    expect(plan.draft.coins.length).toBeGreaterThanOrEqual(50);
    const version = (await wallet.version(wallet.assign(plan.draft)))!;
    await wallet.broadcast(version);
    await node.mine(1);
    await wallet.scan();
    wallet.open.length = 0;
    const joined = wallet.coins().find(({ txHash }) => txHash === version.hash)!;
    expect(joined.units + version.feeUnitsMax).toBe(
      plan.draft.coins.reduce((sum, coin) => sum + coin.units, 0n),
    );
  });

  it('and everything else that the wallet has is what the node counts, where it can', async () => {
    const addresses = ['0/0', '0/1', '0/2', '1/0'].map(wallet.address);
    const holdings = wallet.driver.holdings(addresses, signal());
    if (kind.program !== 'litecoind') return expect(holdings).rejects.toThrow('scantxoutset');
    const mined = wallet.coins().filter(({ height }) => height !== null);
    const matureUnits = mined.reduce((sum, { units }) => sum + units, 0n);
    const found = (await holdings).get(wallet.chain.asset)!;
    const { height: newest } = await wallet.driver.head(signal());
    let immatureUnits = 0n;
    for (let at = newest - 98; at <= newest; at += 1) {
      const { tx } = await node.rpc('getblock', await node.rpc('getblockhash', at), 2);
      immatureUnits += BigInt(tx[0].vout[0].value.replace('.', ''));
    }
    return expect(found).toBe(matureUnits + immatureUnits);
  });
});
