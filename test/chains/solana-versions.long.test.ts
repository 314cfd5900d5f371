import type { KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Assignment, Draft, Version } from '../../src/chains/driver.ts';
import type { SolanaDriver } from '../../src/chains/solana/driver.ts';
import { createSolanaDriver } from '../../src/chains/solana/kind.ts';
import { nonceAddress } from '../../src/chains/solana/message.ts';
import { parseSlot } from '../../src/chains/solana/slot.ts';
import {
  assigned,
  carryOut,
  createMint,
  draftOf,
  lamportsOf,
  laneState,
  mintTo,
  outgoing,
  readyLane,
  send,
  signal,
  signed,
  statusOf,
  type TestMint,
  tokenUnits,
  untilEnd,
} from '../support/solana-money.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { until } from '../support/until.ts';

const COIN = 1_000_000n;

let chain: TestChain;
let driver: SolanaDriver;
let usdc: TestMint;
let lane: KeyPairSigner;

beforeAll(async () => {
  chain = await startSolana();
  usdc = await createMint(chain, 'token');
  const tokens = [{ asset: 'USDC', mint: usdc.address, decimals: 6 }];
  driver = await createSolanaDriver(chain.settings({ tokens, nonceAccounts: 32 }));
}, 60_000);

beforeEach(async () => {
  chain.relay.behave(undefined);
  lane ??= await readyLane(chain, driver, 100_000_000_000n);
});

afterAll(() => chain.stop());

/** Makes the market for compute units dearer. */
const pricesOf = (price: number) =>
  chain.relay.behave(({ method }) =>
    method === 'getRecentPrioritizationFees'
      ? { result: [{ slot: 1, prioritizationFee: price }] }
      : undefined,
  );

const used: Assignment[] = [];

/** An assignment of one payment on a nonce that no other test has used. */
async function planned(address: string, asset = 'SOL', units = COIN): Promise<Assignment> {
  const waiting = [outgoing(address, asset, units)];
  let draft = await draftOf(driver, laneState(lane.address, used), waiting);
  if (draft.purpose === 'UPKEEP') {
    await carryOut(chain, driver, lane, draft);
    draft = await draftOf(driver, laneState(lane.address, used), waiting);
  }
  const assignment = assigned(lane.address, draft);
  used.push(assignment);
  return assignment;
}

async function twoVersions(assignment: Assignment): Promise<[Version, Version]> {
  const first = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
  // The market may still remember what the test before has paid.
  pricesOf(5 * Number(first.feeRate));
  const unsigned = await driver.build(assignment, [first], signal());
  chain.relay.behave(undefined);
  return [first, await signed(chain, driver, unsigned!, [lane], 2)];
}

const isKnown = async (hash: string): Promise<boolean> => (await statusOf(chain.call, hash)) !== undefined;

describe('versions of a Solana transaction', () => {
  it('are paid once, however often one is broadcast', async () => {
    const { address } = await chain.wallet();
    const assignment = await planned(address);
    const version = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
    await Promise.all([driver.broadcast(version, signal()), driver.broadcast(version, signal())]);
    expect(await untilEnd(driver, assignment, [version])).toMatchObject({ kind: 'final', succeeded: true });
    await driver.broadcast(version, signal());
    expect(await driver.observe(assignment, [version], signal())).toMatchObject({ kind: 'final' });
    expect(await lamportsOf(chain, address)).toBe(COIN);
  });

  it('get a higher price when the market rises, up to the bound, and none while the last is good enough', async () => {
    const assignment = await planned((await chain.wallet()).address);
    const first = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
    expect(first.feeRate).toBe(1_000n);
    expect(await driver.build(assignment, [first], signal())).toBeUndefined();
    pricesOf(1_100);
    expect(await driver.build(assignment, [first], signal())).toMatchObject({ feeRate: 1_250n });
    pricesOf(2_000_000_000);
    const most = await driver.build(assignment, [first], signal());
    expect(most).toMatchObject({ feeRate: 1_000_000n });
    const second = await signed(chain, driver, most!, [lane], 2);
    expect(await driver.build(assignment, [first, second], signal())).toBeUndefined();
  });

  it('are executed once if both are broadcast together, and either is recognized', async () => {
    const { address } = await chain.wallet();
    const assignment = await planned(address);
    const versions = await twoVersions(assignment);
    await Promise.all(versions.map((version) => driver.broadcast(version, signal()).catch(() => {})));
    const end = await untilEnd(driver, assignment, versions);
    expect(end).toMatchObject({ kind: 'final', succeeded: true });
    expect(versions.map(({ hash }) => hash)).toContain((end as { txHash: string }).txHash);
    expect(await lamportsOf(chain, address)).toBe(COIN);
  });

  it('that are old do nothing after the new one was executed', async () => {
    const { address } = await chain.wallet();
    const assignment = await planned(address);
    const [old, young] = await twoVersions(assignment);
    await driver.broadcast(young, signal());
    expect(await untilEnd(driver, assignment, [old, young])).toMatchObject({ txHash: young.hash });
    await driver.broadcast(old, signal()).catch(() => {});
    // Another payment that is sent later is final: by then the old version would be too.
    const later = await planned((await chain.wallet()).address);
    const version = await signed(chain, driver, (await driver.build(later, [], signal()))!, [lane]);
    await driver.broadcast(version, signal());
    await untilEnd(driver, later, [version]);
    expect(await isKnown(old.hash)).toBe(false);
    expect(await lamportsOf(chain, address)).toBe(COIN);
    expect(await driver.observe(assignment, [old, young], signal())).toMatchObject({ txHash: young.hash });
  });
});

describe('the end of a Solana assignment', () => {
  it('is a failure with its fee if the tokens are gone when it is executed', async () => {
    await mintTo(chain, usdc, lane.address, 1_000n);
    const { address } = await chain.wallet();
    await mintTo(chain, usdc, address, 1n);
    const assignment = await planned(address, 'USDC', 800n);
    const other = await planned((await chain.wallet()).address, 'USDC', 100n);
    // Signed with more than is left, as if the wallet had been used elsewhere.
    const greedy = { ...other, payments: [{ ...other.payments[0]!, units: 900n }] };
    const first = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
    const second = await signed(chain, driver, (await driver.build(greedy, [], signal()))!, [lane]);
    await driver.broadcast(first, signal());
    expect(await untilEnd(driver, assignment, [first])).toMatchObject({ succeeded: true });
    const before = await lamportsOf(chain, lane.address);
    await driver.broadcast(second, signal());
    const end = await untilEnd(driver, greedy, [second]);
    expect(end).toMatchObject({ kind: 'final', succeeded: false });
    expect((end as { reason: string }).reason).toContain('did not have enough');
    const { feeUnits } = end as { feeUnits: bigint };
    expect(feeUnits).toBeGreaterThanOrEqual(5_000n);
    expect(before - (await lamportsOf(chain, lane.address))).toBe(feeUnits);
    expect(await tokenUnits(chain, usdc, address)).toBe(801n);
  });

  it('is superseded if a cancellation has used its nonce', async () => {
    const { address } = await chain.wallet();
    const assignment = await planned(address);
    const version = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
    const draft: Draft = { ...assignment, purpose: 'CANCELLATION', payments: [] };
    const cancelled = await carryOut(chain, driver, lane, draft);
    expect(cancelled.end).toMatchObject({ kind: 'final', succeeded: true });
    await driver.broadcast(version, signal()).catch(() => {});
    const end = await untilEnd(driver, assignment, [version]);
    expect(end).toEqual({ kind: 'superseded', by: cancelled.version.hash });
    expect(await lamportsOf(chain, address)).toBe(0n);
  });

  it('is superseded if somebody with the key has advanced the nonce by hand', async () => {
    const assignment = await planned((await chain.wallet()).address);
    const version = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
    const { kit, system } = chain.library;
    const nonceAccount = kit.address(
      await nonceAddress(chain.library, lane.address, parseSlot(assignment.slot!).index),
    );
    const by = await send(chain, lane, [
      system.getTransferSolInstruction({ source: lane, destination: lane.address, amount: 1n }),
      system.getAdvanceNonceAccountInstruction({ nonceAccount, nonceAuthority: lane }),
    ]);
    expect(await untilEnd(driver, assignment, [version])).toEqual({ kind: 'superseded', by });
  });

  it('is open while a node that is behind shows the old nonce, or a node has lost its history', async () => {
    const assignment = await planned((await chain.wallet()).address);
    const version = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
    expect(await driver.observe(assignment, [version], signal())).toEqual({ kind: 'unseen' });
    const account = await nonceAddress(chain.library, lane.address, parseSlot(assignment.slot!).index);
    const old = await chain.call('getMultipleAccounts', [account], { encoding: 'base64' });
    await driver.broadcast(version, signal());
    await until('it is final', async () => (await statusOf(chain.call, version.hash)) === 'finalized');

    const nothing = { result: { context: { slot: 1 }, value: [null] } };
    chain.relay.behave(({ method }) => {
      if (method === 'getSignatureStatuses') return nothing;
      return method === 'getMultipleAccounts' ? { result: old } : undefined;
    });
    expect(await driver.observe(assignment, [version], signal())).toEqual({ kind: 'unseen' });

    chain.relay.behave(({ method }) => {
      if (method === 'getSignatureStatuses') return nothing;
      return method === 'getSignaturesForAddress' ? { result: [] } : undefined;
    });
    expect(await driver.observe(assignment, [version], signal())).toMatchObject({ kind: 'undecided' });

    chain.relay.behave(undefined);
    expect(await driver.observe(assignment, [version], signal())).toMatchObject({ kind: 'final' });
  });

  it('is found by the history of the nonce if the node does not find the signature', async () => {
    const assignment = await planned((await chain.wallet()).address);
    const version = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
    await driver.broadcast(version, signal());
    await until('it is final', async () => (await statusOf(chain.call, version.hash)) === 'finalized');
    let isFirst = true;
    chain.relay.behave(({ method }) => {
      if (method !== 'getSignatureStatuses' || !isFirst) return undefined;
      isFirst = false;
      return { result: { context: { slot: 1 }, value: [null] } };
    });
    expect(await driver.observe(assignment, [version], signal())).toMatchObject({
      kind: 'final',
      txHash: version.hash,
    });
  });
});

describe('nonce accounts', () => {
  it('are created once, even if two transactions create them', async () => {
    const owner = await chain.wallet(1_000_000_000n);
    const draft = await draftOf(driver, laneState(owner.address), [outgoing(owner.address, 'SOL', 1n)]);
    expect(draft).toMatchObject({ purpose: 'UPKEEP', slot: null, payments: [] });
    const first = await carryOut(chain, driver, owner, draft);
    expect(first.end).toMatchObject({ kind: 'final', succeeded: true });
    const held = await lamportsOf(chain, owner.address);
    const second = await carryOut(chain, driver, owner, draft);
    expect(second.end).toMatchObject({ kind: 'final', succeeded: false });
    expect(held - (await lamportsOf(chain, owner.address))).toBe(
      (second.end as { feeUnits: bigint }).feeUnits,
    );
  });

  it('are not created again while the transaction that creates them can still be executed', async () => {
    const owner = await chain.wallet(1_000_000_000n);
    const draft = await draftOf(driver, laneState(owner.address), [outgoing(owner.address, 'SOL', 1n)]);
    const assignment = assigned(owner.address, draft);
    const first = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [owner]);
    expect(await driver.build(assignment, [first], signal())).toBeUndefined();
    expect(await driver.observe(assignment, [first], signal())).toEqual({ kind: 'unseen' });
    const plan = await driver.plan(
      laneState(owner.address, [assignment]),
      [outgoing(owner.address, 'SOL', 1n)],
      signal(),
    );
    expect(plan).toMatchObject({ kind: 'wait', code: 'busy' });
    // The blockhash of the first version expires.
    let next = await driver.build(assignment, [first], signal());
    await until('the blockhash has expired', async () => {
      next = await driver.build(assignment, [first], signal());
      return next !== undefined;
    });
    await driver.broadcast(first, signal()).catch(() => {});
    const second = await signed(chain, driver, next!, [owner], 2);
    await driver.broadcast(second, signal());
    expect(await untilEnd(driver, assignment, [first, second])).toMatchObject({ txHash: second.hash });
  });

  it('skip an address to which a stranger has sent coins', async () => {
    const owner = await chain.wallet(1_000_000_000n);
    const stranger = await chain.wallet(1_000_000_000n);
    const { kit, system } = chain.library;
    const destination = kit.address(await nonceAddress(chain.library, owner.address, 0));
    await send(chain, stranger, [
      system.getTransferSolInstruction({ source: stranger, destination, amount: 2_000_000n }),
    ]);
    const draft = await draftOf(driver, laneState(owner.address), [outgoing(owner.address, 'SOL', 1n)]);
    expect(draft.details.nonces).toBe('1,2,3,4');
    expect((await carryOut(chain, driver, owner, draft)).end).toMatchObject({ succeeded: true });
  });
});
