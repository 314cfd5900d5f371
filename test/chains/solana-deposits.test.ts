import type { KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Block, Received } from '../../src/chains/driver.ts';
import type { SolanaDriver } from '../../src/chains/solana/driver.ts';
import { createSolanaDriver } from '../../src/chains/solana/kind.ts';
import {
  carryOut,
  createMint,
  lamportsOf,
  laneState,
  mintTo,
  readyLane,
  send,
  signal,
  type TestMint,
  tokenUnits,
} from '../support/solana-money.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { until } from '../support/until.ts';

let chain: TestChain;
let driver: SolanaDriver;
let usdc: TestMint;
let fee: TestMint;
let unknown: TestMint;
let stranger: KeyPairSigner;

beforeAll(async () => {
  chain = await startSolana();
  [usdc, fee, unknown] = await Promise.all([
    createMint(chain, 'token'),
    createMint(chain, 'token-2022', 100),
    createMint(chain, 'token-2022'),
  ]);
  stranger = await chain.wallet(100_000_000_000n);
  const tokens = [
    { asset: 'USDC', mint: usdc.address, decimals: 6 },
    { asset: 'FEED', mint: fee.address, decimals: 6 },
  ];
  driver = await createSolanaDriver(chain.settings({ tokens }));
}, 60_000);

beforeEach(() => {
  chain.relay.behave(undefined);
  chain.relay.skipped.clear();
});

afterAll(() => chain.stop());

const pay = (address: string, amount: bigint) =>
  chain.library.system.getTransferSolInstruction({
    source: stranger,
    destination: chain.library.kit.address(address),
    amount,
  });

/** Every block after the height up to the present head, each of which must name the one before it as its parent. */
async function scan(after: number, addresses: readonly string[]): Promise<Block[]> {
  const { height } = await driver.head(signal());
  const blocks: Block[] = [];
  let last = await driver.block(after, () => false, signal());
  while (last.height < height) {
    const next = await driver.block(last.height + 1, (address) => addresses.includes(address), signal());
    expect(next.parentHash).toBe(last.hash);
    blocks.push(next);
    last = next;
  }
  return blocks;
}

/** A transaction names its accounts in the order of their addresses. */
const byPlace = (a: Received, b: Received): number =>
  `${a.txHash} ${a.address}`.localeCompare(`${b.txHash} ${b.address}`);

const received = (blocks: readonly Block[]): Received[] => blocks.flatMap((block) => block.received);

describe('deposits on Solana', () => {
  it('of coins and tokens are each found exactly once, whatever else is in the blocks', async () => {
    const [one, two] = [await chain.wallet(), await chain.wallet()];
    const start = (await driver.head(signal())).height;
    const coin = await send(chain, stranger, [pay(one.address, 3_000_000n)]);
    const twice = await send(chain, stranger, [pay(two.address, 2_000_000n), pay(two.address, 1_000_000n)]);
    const both = await send(chain, stranger, [pay(one.address, 7n), pay(two.address, 8n)]);
    const token = await mintTo(chain, usdc, one.address, 500n);
    const other = await mintTo(chain, unknown, two.address, 900n);
    const failed = await send(chain, stranger, [pay(one.address, 11n), pay(one.address, 10n ** 15n)]);
    await send(chain, stranger, [pay((await chain.wallet()).address, 5_000_000n)]);

    const found = received(await scan(start, [one.address, two.address]));
    const plain = { output: null };
    expect(found.toSorted(byPlace)).toEqual(
      [
        { ...plain, txHash: coin, address: one.address, asset: 'SOL', units: 3_000_000n },
        { ...plain, txHash: twice, address: two.address, asset: 'SOL', units: 3_000_000n },
        { ...plain, txHash: both, address: one.address, asset: 'SOL', units: 7n },
        { ...plain, txHash: both, address: two.address, asset: 'SOL', units: 8n },
        { ...plain, txHash: token, address: one.address, asset: 'USDC', units: 500n },
        { ...plain, txHash: other, address: two.address, asset: unknown.address, units: 900n },
      ].toSorted(byPlace),
    );
    expect(found.map(({ txHash }) => txHash)).not.toContain(failed);
    const again = received(await scan(start, [one.address, two.address]));
    expect(again).toEqual(found);
    const held = await driver.holdings([one.address, two.address], signal());
    expect(Object.fromEntries(held)).toEqual({ SOL: 6_000_015n, USDC: 500n, [unknown.address]: 900n });
  });

  it('of a token that takes a fee count with what arrived', async () => {
    const { kit, token } = chain.library;
    const [{ address }, sender] = [await chain.wallet(), await chain.wallet(1_000_000_000n)];
    await mintTo(chain, fee, sender.address, 100_000n);
    await mintTo(chain, fee, address, 1n);
    const start = (await driver.head(signal())).height;
    const accounts = await Promise.all(
      [sender.address, address].map(async (owner) => {
        type Owned = { value: readonly { pubkey: string }[] };
        const owned = await chain.call<Owned>(
          'getTokenAccountsByOwner',
          owner,
          { mint: fee.address },
          { encoding: 'base64' },
        );
        return kit.address(owned.value[0]!.pubkey);
      }),
    );
    const txHash = await send(chain, sender, [
      token.getTransferCheckedInstruction(
        {
          source: accounts[0]!,
          mint: kit.address(fee.address),
          destination: accounts[1]!,
          authority: sender,
          amount: 50_000n,
          decimals: 6,
        },
        { programAddress: kit.address(fee.program) },
      ),
    ]);
    expect(received(await scan(start, [address]))).toEqual([
      { txHash, output: null, address, asset: 'FEED', units: 49_500n },
    ]);
  });

  it('are found beside slots that have no block', async () => {
    const { address } = await chain.wallet();
    const start = (await driver.head(signal())).height;
    const txHash = await send(chain, stranger, [pay(address, 4_000_000n)]);
    await until('there are more blocks', async () => (await driver.head(signal())).height > start + 60);
    const [{ slot }] = (await chain.call<[{ slot: number }]>('getSignaturesForAddress', address)) as [
      { slot: number },
    ];
    for (const skipped of [start + 1, slot - 1, slot + 1, slot + 2]) chain.relay.skipped.add(skipped);
    const blocks = await scan(start, [address]);
    const at = (height: number) => blocks.find((block) => block.height === height)!;
    expect(at(slot + 2)).toMatchObject({ hash: at(slot).hash, received: [] });
    expect(received(blocks)).toEqual([{ txHash, output: null, address, asset: 'SOL', units: 4_000_000n }]);
  });

  it('are not skipped because a node has lost a block', async () => {
    const { height } = await driver.head(signal());
    chain.relay.behave(({ method, params }) =>
      method === 'getBlock' && params[0] === height
        ? { error: { code: -32_007, message: 'Slot was skipped, or missing due to ledger jump' } }
        : undefined,
    );
    await until('there is a later block', async () => {
      const newest = await chain.call<number>('getSlot', { commitment: 'finalized' });
      return newest > height + 1;
    });
    await expect(driver.block(height, () => true, signal())).rejects.toThrow(
      'does not have the block of slot',
    );
  });

  it('are swept to the lane, which pays the fee for addresses without coins', async () => {
    const lane = await readyLane(chain, driver);
    const [one, two] = [await chain.wallet(), await chain.wallet()];
    await send(chain, stranger, [pay(one.address, 3_000_000n)]);
    await mintTo(chain, usdc, one.address, 500n);
    await mintTo(chain, usdc, two.address, 600n);
    const before = await lamportsOf(chain, lane.address);
    const plan = await driver.sweep(laneState(lane.address), [one.address, two.address], signal());
    if (plan.kind === 'wait') throw new Error(plan.reason);
    const { end } = await carryOut(chain, driver, lane, plan.draft, [one, two]);
    expect(end).toMatchObject({ kind: 'final', succeeded: true });
    expect(await tokenUnits(chain, usdc, lane.address)).toBe(1_100n);
    expect(await lamportsOf(chain, one.address)).toBe(0n);
    const { feeUnits } = end as { feeUnits: bigint };
    expect(await lamportsOf(chain, lane.address)).toBe(before + 3_000_000n - feeUnits);
    expect(await driver.sweep(laneState(lane.address), [one.address], signal())).toMatchObject({
      kind: 'wait',
    });
  });
});
