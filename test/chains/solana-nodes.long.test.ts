import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Assignment, Version } from '../../src/chains/driver.ts';
import type { SolanaDriver } from '../../src/chains/solana/driver.ts';
import { createSolanaDriver } from '../../src/chains/solana/kind.ts';
import { LIMITS } from '../../src/limits.ts';
import {
  assigned,
  createMint,
  draftOf,
  lamportsOf,
  laneState,
  outgoing,
  readyLane,
  send,
  signal,
  signed,
  untilEnd,
} from '../support/solana-money.ts';
import { type Behaviour, type Relay, startSolana, type TestChain } from '../support/solana-node.ts';

let chain: TestChain;
let other: Relay;
let lane: KeyPairSigner;

beforeAll(async () => {
  chain = await startSolana();
  other = await chain.relayed();
  lane = await readyLane(chain, await createSolanaDriver(chain.settings()));
}, 60_000);

beforeEach(() => {
  for (const relay of [chain.relay, other]) {
    relay.behave(undefined);
    relay.setDown(false);
    relay.calls.clear();
  }
});

afterAll(() => chain.stop());

const nodes = () => [chain.relay, other].map(({ url }) => ({ url, headers: {} }));

async function sent(
  driver: SolanaDriver,
): Promise<{ assignment: Assignment; version: Version; address: string }> {
  const { address } = await chain.wallet();
  const draft = await draftOf(driver, laneState(lane.address), [outgoing(address, 'SOL', 1_000_000n)]);
  const assignment = assigned(lane.address, draft);
  const version = await signed(chain, driver, (await driver.build(assignment, [], signal()))!, [lane]);
  await driver.broadcast(version, signal());
  return { assignment, version, address };
}

const hides: Behaviour = ({ method }) =>
  method === 'getSignatureStatuses' ? { result: { context: { slot: 1 }, value: [null] } } : undefined;

describe('several nodes of Solana', () => {
  it('replace each other: a payment is made while the first is down', async () => {
    const driver = await createSolanaDriver(chain.settings({ nodes: nodes() }));
    chain.relay.setDown(true);
    const { assignment, version, address } = await sent(driver);
    expect(await untilEnd(driver, assignment, [version])).toMatchObject({ kind: 'final', succeeded: true });
    expect(await lamportsOf(chain, address)).toBe(1_000_000n);
  });

  it('must agree on the end of a payment', async () => {
    const driver = await createSolanaDriver(chain.settings({ nodes: nodes(), nodesAgreeing: 2 }));
    const { assignment, version } = await sent(driver);
    other.behave(hides);
    const alone = await createSolanaDriver(chain.settings());
    await untilEnd(alone, assignment, [version]);
    expect(await driver.observe(assignment, [version], signal())).toMatchObject({ kind: 'undecided' });
    other.behave(({ method }, answer) => {
      if (method !== 'getTransaction') return undefined;
      const { meta, ...rest } = answer.result as { meta: object };
      return { result: { ...rest, meta: { ...meta, err: { InstructionError: [3, { Custom: 1 }] } } } };
    });
    expect(await driver.observe(assignment, [version], signal())).toEqual({
      kind: 'undecided',
      reason: 'The nodes disagree about the transaction.',
    });
    other.behave(undefined);
    expect(await driver.observe(assignment, [version], signal())).toMatchObject({ kind: 'final' });
  });

  it('must agree on a deposit before it is credited', async () => {
    const driver = await createSolanaDriver(chain.settings({ nodes: nodes(), nodesAgreeing: 2 }));
    const [{ address }, stranger] = [await chain.wallet(), await chain.wallet(1_000_000_000n)];
    const destination = chain.library.kit.address(address);
    await send(chain, stranger, [
      chain.library.system.getTransferSolInstruction({ source: stranger, destination, amount: 5_000_000n }),
    ]);
    const [listed] = await chain.call<[{ slot: number }]>('getSignaturesForAddress', address);
    const block = await driver.block(listed.slot, (one) => one === address, signal());
    expect(block.received).toHaveLength(1);
    await driver.confirm(block, block.received, signal());
    other.behave(({ method }, answer) =>
      method === 'getBlock' ? { result: { ...(answer.result as object), transactions: [] } } : undefined,
    );
    await expect(driver.confirm(block, block.received, signal())).rejects.toThrow('shows other deposits');
  });

  it('are used only if they are on the configured cluster', async () => {
    const driver = await createSolanaDriver(
      chain.settings({ genesisHash: '11111111111111111111111111111112' }),
    );
    await expect(driver.head(signal())).rejects.toThrow('is on another cluster');
    const [first] = await driver.check(signal());
    expect(first).toMatchObject({ isFault: true });
    expect(first!.found).toContain('is on another cluster');
  });

  it('that do not answer do not keep a caller longer than its own limit', async () => {
    const driver = await createSolanaDriver(chain.settings());
    chain.relay.setDown(true);
    await expect(driver.head(signal())).rejects.toThrow('0 of 1 nodes');
    await expect(driver.head(AbortSignal.abort(new Error('the caller has stopped')))).rejects.toThrow(
      'has stopped',
    );
  });

  it('that hang are asked last after a caller has given up, and those far behind are not planned on', async () => {
    const hanging = createServer(() => {}).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
    const driver = await createSolanaDriver(
      chain.settings({
        nodes: [
          { url, headers: {} },
          { url: chain.relay.url, headers: {} },
        ],
      }),
    );
    await expect(driver.head(AbortSignal.timeout(LIMITS.solanaSlowMs + 200))).rejects.toThrow();
    expect((await driver.head(signal())).height).toBeGreaterThan(0);
    hanging.closeAllConnections();
    hanging.close();

    const two = await createSolanaDriver(chain.settings({ nodes: nodes() }));
    const waiting = [outgoing((await chain.wallet()).address, 'SOL', 1_000_000n)];
    await draftOf(two, laneState(lane.address), waiting);
    chain.relay.behave(({ method }, answer) => {
      if (method !== 'getMultipleAccounts') return undefined;
      const { value } = answer.result as { value: unknown };
      return { result: { context: { slot: 1 }, value } };
    });
    expect(Number((await draftOf(two, laneState(lane.address), waiting)).details.seenAt)).toBeGreaterThan(1);
    other.setDown(true);
    await expect(two.plan(laneState(lane.address), waiting, signal())).rejects.toThrow('slots behind');
  });

  it('get few calls for a payment', async () => {
    const driver = await createSolanaDriver(chain.settings());
    const { assignment, version } = await sent(driver);
    const before = [...chain.relay.calls.values()].reduce((total, count) => total + count, 0);
    expect(before).toBeLessThanOrEqual(9);
    await untilEnd(driver, assignment, [version]);
  });
});

describe('the check of a Solana rail', () => {
  it('reports every node, token and wallet, and what is wrong with them', async () => {
    const mint = await createMint(chain, 'token');
    const tokens = [
      { asset: 'USDC', mint: mint.address, decimals: 6 },
      { asset: 'PUSD', mint: mint.address, decimals: 8 },
      { asset: 'NONE', mint: lane.address, decimals: 6 },
    ];
    const settings = chain.settings({
      nodes: nodes(),
      nodesAgreeing: 2,
      tokens,
      lanes: [lane.address],
      lowMark: 10n ** 15n,
    });
    // A token that is configured wrongly does not keep payments of others back.
    const payment = outgoing((await chain.wallet()).address, 'SOL', 1_000_000n);
    const draft = await draftOf(await createSolanaDriver(settings), laneState(lane.address), [payment]);
    expect(draft.payments).toEqual([payment]);
    other.setDown(true);
    const findings = await (await createSolanaDriver(settings)).check(signal());
    const found = (what: string) => findings.find((finding) => finding.what === what)!;
    const [first, second] = [chain.relay, other].map(({ url }) => `node ${new URL(url).host}`);
    expect(found(first!).found).toMatch(/^version 4\.\d+\.\d+, final slot \d+, health ok$/);
    expect(found(first!).isFault).toBeUndefined();
    expect(found(second!)).toMatchObject({ isFault: true });
    expect(found('nodes')).toMatchObject({ isFault: true });
    expect(found('token USDC').isFault).toBeUndefined();
    expect(found('token PUSD')).toMatchObject({ isFault: true, found: 'has 6 decimals, configured are 8' });
    expect(found('token NONE').found).toContain('is not the mint of a token');
    expect(found(`wallet ${lane.address}`)).toMatchObject({ isFault: true });
    expect(found(`wallet ${lane.address}`).found).toContain('the low mark is');
  });
});

describe('the quote of a Solana payment', () => {
  it('follows the price of compute units, within its bounds', async () => {
    const driver = await createSolanaDriver(chain.settings());
    const quiet = await driver.quote('SOL', signal());
    chain.relay.behave(({ method }) =>
      method === 'getRecentPrioritizationFees'
        ? { result: [{ slot: 1, prioritizationFee: 10_000_000_000 }] }
        : undefined,
    );
    const busy = await driver.quote('SOL', signal());
    expect(quiet).toBe(5_080n);
    expect(busy).toBe(85_000n);
  });
});
