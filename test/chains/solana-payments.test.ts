import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Assignment } from '../../src/chains/driver.ts';
import type { SolanaDriver } from '../../src/chains/solana/driver.ts';
import { createSolanaDriver } from '../../src/chains/solana/kind.ts';
import { parseSlot } from '../../src/chains/solana/slot.ts';
import {
  assigned,
  carryOut,
  createMint,
  draftOf,
  hookTo,
  lamportsOf,
  laneState,
  mintTo,
  outgoing,
  readyLane,
  signal,
  type TestMint,
  tokenUnits,
} from '../support/solana-money.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';

let chain: TestChain;
let driver: SolanaDriver;
let usdc: TestMint;
let fee: TestMint;
let plain2022: TestMint;

beforeAll(async () => {
  chain = await startSolana();
  [usdc, plain2022, fee] = await Promise.all([
    createMint(chain, 'token'),
    createMint(chain, 'token-2022'),
    createMint(chain, 'token-2022', 100),
  ]);
  const tokens = [
    { asset: 'USDC', mint: usdc.address, decimals: 6 },
    { asset: 'PUSD', mint: plain2022.address, decimals: 6 },
    { asset: 'FEED', mint: fee.address, decimals: 6 },
  ];
  driver = await createSolanaDriver(chain.settings({ tokens }));
}, 60_000);

afterAll(() => chain.stop());

describe('a payment on Solana', () => {
  it('of the coin arrives once, and its memo is the id of the transfer', async () => {
    const lane = await readyLane(chain, driver);
    const { address } = await chain.wallet();
    const before = await lamportsOf(chain, lane.address);
    const payment = outgoing(address, 'SOL', 5_000_000n);
    const { end, version } = await carryOut(
      chain,
      driver,
      lane,
      await draftOf(driver, laneState(lane.address), [payment]),
    );
    expect(end).toMatchObject({ kind: 'final', succeeded: true, txHash: version.hash });
    expect(await lamportsOf(chain, address)).toBe(5_000_000n);
    const feeUnits = (end as { feeUnits: bigint }).feeUnits;
    expect(feeUnits).toBeLessThanOrEqual(version.feeUnitsMax);
    expect(before - (await lamportsOf(chain, lane.address))).toBe(5_000_000n + feeUnits);
    type Listed = readonly { signature: string; memo: string }[];
    const [newest] = await chain.call<Listed>('getSignaturesForAddress', address, { limit: 1 });
    expect(newest).toMatchObject({ signature: version.hash, memo: `[36] ${payment.key}` });
  });

  it.each([
    ['USDC', () => usdc, 165],
    ['PUSD', () => plain2022, 170],
    ['FEED', () => fee, 182],
  ] as const)(
    'of the token %s creates the missing token account, and pays the rent that was announced',
    async (asset, mintOf, bytes) => {
      const mint = mintOf();
      const lane = await readyLane(chain, driver);
      await mintTo(chain, mint, lane.address, 1_000_000n);
      const { address } = await chain.wallet();
      const rent = BigInt(await chain.call<number>('getMinimumBalanceForRentExemption', bytes));
      const payment = outgoing(address, asset, 10_000n);
      expect(await driver.rentOf(payment, signal())).toBe(rent);

      const first = await carryOut(
        chain,
        driver,
        lane,
        await draftOf(driver, laneState(lane.address), [payment]),
      );
      const taken = asset === 'FEED' ? 100n : 0n;
      expect(await tokenUnits(chain, mint, address)).toBe(10_000n - taken);
      expect(first.end).toMatchObject({ kind: 'final', succeeded: true });
      const cost = (first.end as { feeUnits: bigint }).feeUnits;
      expect(cost).toBeGreaterThan(rent);
      expect(cost).toBeLessThanOrEqual(first.version.feeUnitsMax);

      const again = outgoing(address, asset, 10_000n);
      expect(await driver.rentOf(again, signal())).toBe(0n);
      const second = await carryOut(
        chain,
        driver,
        lane,
        await draftOf(driver, laneState(lane.address), [again]),
      );
      expect(await tokenUnits(chain, mint, address)).toBe(2n * (10_000n - taken));
      expect((second.end as { feeUnits: bigint }).feeUnits).toBeLessThan(rent);
    },
  );

  it('to a token account goes to that account, not to one that is derived from it', async () => {
    const lane = await readyLane(chain, driver);
    await mintTo(chain, usdc, lane.address, 1_000_000n);
    const { address: owner } = await chain.wallet();
    await mintTo(chain, usdc, owner, 1n);
    type Owned = { value: readonly { pubkey: string }[] };
    const { value } = await chain.call<Owned>(
      'getTokenAccountsByOwner',
      owner,
      { mint: usdc.address },
      { encoding: 'base64' },
    );
    const payment = outgoing(value[0]!.pubkey, 'USDC', 77n);
    expect(await driver.rentOf(payment, signal())).toBe(0n);
    const { end } = await carryOut(
      chain,
      driver,
      lane,
      await draftOf(driver, laneState(lane.address), [payment]),
    );
    expect(end).toMatchObject({ succeeded: true });
    expect(await tokenUnits(chain, usdc, owner)).toBe(78n);
  });
});

describe('a token of Token-2022 whose transfers call another program', () => {
  it('is refused before anything is signed, and so is one that is not configured', async () => {
    const hooked = await createMint(chain, 'token-2022', 0, hookTo((await chain.wallet()).address));
    const tokens = [{ asset: 'HOOK', mint: hooked.address, decimals: 6 }];
    const own = await createSolanaDriver(chain.settings({ tokens }));
    const { address } = await chain.wallet();
    expect(await own.fault!(outgoing(address, 'HOOK', 1n), signal())).toBe(
      'HOOK cannot be paid on SOLANA: its transfers call another program.',
    );
    expect(await own.fault!(outgoing(address, 'OTHER', 1n), signal())).toBe(
      'OTHER is not configured on SOLANA.',
    );
    expect(await own.fault!(outgoing(address, 'SOL', 1n), signal())).toBeUndefined();
  });
});

describe('several payments on Solana', () => {
  it('share a transaction as far as it fits, each with its own memo', async () => {
    const lane = await readyLane(chain, driver);
    const wallets = await Promise.all(Array.from({ length: 14 }, () => chain.wallet()));
    const waiting = wallets.map(({ address }, index) => outgoing(address, 'SOL', 1_000_000n + BigInt(index)));
    const draft = await draftOf(driver, laneState(lane.address), waiting);
    expect(draft.payments.length).toBeGreaterThan(7);
    expect(draft.payments).toEqual(waiting.slice(0, draft.payments.length));
    const { version, end } = await carryOut(chain, driver, lane, draft);
    expect(end).toMatchObject({ succeeded: true });
    expect(version.bytes.length / 2).toBeLessThanOrEqual(1_232);
    for (const { address, units } of draft.payments) expect(await lamportsOf(chain, address)).toBe(units);
  });

  it('of coins and tokens go together', async () => {
    const lane = await readyLane(chain, driver);
    await mintTo(chain, usdc, lane.address, 1_000n);
    await mintTo(chain, plain2022, lane.address, 1_000n);
    const { address } = await chain.wallet();
    const waiting = [
      outgoing(address, 'SOL', 2_000_000n),
      outgoing(address, 'USDC', 10n),
      outgoing(address, 'PUSD', 20n),
    ];
    const draft = await draftOf(driver, laneState(lane.address), waiting);
    expect(draft.payments).toEqual(waiting);
    expect((await carryOut(chain, driver, lane, draft)).end).toMatchObject({ succeeded: true });
    expect(await lamportsOf(chain, address)).toBe(2_000_000n);
    expect(await tokenUnits(chain, usdc, address)).toBe(10n);
    expect(await tokenUnits(chain, plain2022, address)).toBe(20n);
  });

  it('are sent one by one if one of them would fail, so that it fails alone', async () => {
    const lane = await readyLane(chain, driver);
    await mintTo(chain, usdc, lane.address, 1_000n);
    const { address } = await chain.wallet();
    // A mint is no account that tokens can be paid to.
    const waiting = [outgoing(usdc.address, 'USDC', 10n), outgoing(address, 'SOL', 1_000_000n)];
    const draft = await draftOf(driver, laneState(lane.address), waiting);
    expect(draft.payments).toEqual([waiting[0]]);
    const { end, assignment } = await carryOut(chain, driver, lane, draft);
    expect(end).toMatchObject({ kind: 'final', succeeded: false });
    expect((end as { reason: string }).reason).toContain('cannot receive this asset');
    expect((end as { feeUnits: bigint }).feeUnits).toBeGreaterThanOrEqual(5_000n);
    const next = await draftOf(driver, laneState(lane.address), [waiting[1]!]);
    // A used nonce is not offered again, even by a node that still shows it.
    expect(next.slot).not.toBe(assignment.slot);
  });

  it('in open transactions each have a nonce of their own, and wait when all are in use', async () => {
    const lane = await readyLane(chain, driver);
    const { address } = await chain.wallet();
    const open: Assignment[] = [];
    for (let count = 0; count < 4; count += 1) {
      const waiting = [outgoing(address, 'SOL', 1_000_000n)];
      open.push(assigned(lane.address, await draftOf(driver, laneState(lane.address, open), waiting)));
    }
    expect(new Set(open.map(({ slot }) => parseSlot(slot!).index)).size).toBe(4);
    const plan = await driver.plan(laneState(lane.address, open), [outgoing(address, 'SOL', 1n)], signal());
    expect(plan).toMatchObject({ kind: 'wait', code: 'busy' });
  });

  it('wait for funds, without keeping a payment of another asset back', async () => {
    const lane = await readyLane(chain, driver);
    const { address } = await chain.wallet();
    const [poor, good] = [outgoing(address, 'USDC', 5n), outgoing(address, 'SOL', 1_000_000n)];
    const plan = await driver.plan(laneState(lane.address), [poor], signal());
    expect(plan).toMatchObject({ kind: 'wait', code: 'low-funds' });
    expect((await draftOf(driver, laneState(lane.address), [poor, good])).payments).toEqual([good]);
    const open = [
      assigned(
        lane.address,
        await draftOf(driver, laneState(lane.address), [outgoing(address, 'SOL', 9_900_000_000n)]),
      ),
    ];
    const later = await driver.plan(
      laneState(lane.address, open),
      [outgoing(address, 'SOL', 900_000_000n)],
      signal(),
    );
    expect(later).toMatchObject({ kind: 'wait', code: 'low-funds' });
  });
});
