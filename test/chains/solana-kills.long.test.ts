import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CHECKPOINTS } from '../../src/chains/keeper.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { createSolanaWorld, type SolanaWorld } from '../support/solana-world.ts';
import { until } from '../support/until.ts';

/** What happens on the chain while the keeper is dead, and afterwards: judged by the chain. */

let chain: TestChain;
let world: SolanaWorld;
const LEASE_MS = 200;

beforeAll(async () => {
  chain = await startSolana();
  world = await createSolanaWorld(chain);
}, 120_000);
afterEach(() => {
  chain.relay.behave(undefined);
  chain.relay.setDown(false);
});
afterAll(async () => {
  await world?.drop();
  await chain?.stop();
});

type Fault = {
  /** From before the keeper dies until the next one has worked. */
  readonly during?: () => void;
  /** While it is dead. */
  readonly after?: (transferId: string) => Promise<unknown>;
  readonly over?: () => void;
};

const FAULTS: Readonly<Record<string, Fault>> = {
  'nothing else happens': {},
  'its bytes are sent again by somebody else': {
    async after(id) {
      for (const bytes of await world.bytesOf(id))
        for (let times = 0; times < 3; times += 1) await world.sendAgain(bytes);
    },
  },
  'the node is down': {
    after: async () => chain.relay.setDown(true),
    over: () => chain.relay.setDown(false),
  },
  'the answers to broadcasts are lost': {
    during: () =>
      chain.relay.behave(({ method }) =>
        method === 'sendTransaction' ? { error: { code: -32_603, message: 'lost' } } : undefined,
      ),
    over: () => chain.relay.behave(undefined),
  },
};

/** Those where bytes may be on the chain. */
const HOT = CHECKPOINTS.slice(3, 6);
const isLong = process.env.FERRY_TEST_LONG !== undefined;
/** All others only in long runs. */
const SAMPLE = 'the answers to broadcasts are lost';

describe.each(isLong ? Object.entries(FAULTS) : Object.entries(FAULTS).filter(([what]) => what === SAMPLE))(
  'a keeper dies, and %s',
  (_, { during, after, over }) => {
    it.each(isLong ? CHECKPOINTS : HOT)('%s: the payment is on the chain once', async (at) => {
      let hasDied = false;
      const dying = await world.createNode({
        leaseMs: LEASE_MS,
        async checkpoint(name) {
          if (name === at) hasDied = true;
          // Nothing of a process that was killed goes on.
          if (hasDied) throw new Error('killed');
        },
      });
      const next = await world.createNode({ leaseMs: LEASE_MS });
      const profileId = await world.createProfile({ USDC: '10' });
      const { address: to } = await chain.wallet();
      const { id } = await world.withdraw(profileId, 'USDC', '1', to);
      during?.();
      await until('the keeper has died', async () => {
        await dying.worker.runDue();
        await dying.keepers[0]!.run().catch(() => undefined);
        return hasDied;
      });
      await after?.(id);
      await until(
        'the lease of the dead keeper has expired',
        async () => (await next.keepers[0]!.run()) !== undefined,
      );
      over?.();
      const [ended] = await world.settle(next, [id]);
      expect(ended).toMatchObject({ status: 'COMPLETED' });
      expect(await world.received('USDC', to)).toBe(1_000_000n);
      expect(await world.timesPaid(id, to)).toBe(1);
      await world.expectBooked();
      await Promise.all([next.keepers[0]!.stop(), next.scanner.stop()]);
    });
  },
);

describe('a keeper dies while it creates the nonce accounts of a new lane', () => {
  it.each(
    CHECKPOINTS.map((at, index) => [at, index + 1] as const).filter(([at]) => isLong || HOT.includes(at)),
  )('%s: the next one creates them, and pays', async (at, place) => {
    const settings = { lanes: [world.lanes[place]!] };
    let hasDied = false;
    const dying = await world.createNode({
      settings,
      leaseMs: LEASE_MS,
      async checkpoint(name) {
        if (name === at) hasDied = true;
        if (hasDied) throw new Error('killed');
      },
    });
    const next = await world.createNode({ settings, leaseMs: LEASE_MS });
    const { address: to } = await chain.wallet();
    const { id } = await world.withdraw(await world.createProfile({ SOL: '10' }), 'SOL', '1', to);
    await until('the keeper has died', async () => {
      await dying.worker.runDue();
      await dying.keepers[0]!.run().catch(() => undefined);
      return hasDied;
    });
    await until(
      'the lease of the dead keeper has expired',
      async () => (await next.keepers[0]!.run()) !== undefined,
    );
    const [ended] = await world.settle(next, [id]);
    expect(ended).toMatchObject({ status: 'COMPLETED' });
    expect(await world.timesPaid(id, to)).toBe(1);
    const created = await world.database.query<{ state: string }>(
      `select state from chain_assignments where lane = $1 and purpose = 'UPKEEP'`,
      settings.lanes,
    );
    expect(created).toEqual([{ state: 'SUCCEEDED' }]);
    await world.expectBooked();
    await Promise.all([next.keepers[0]!.stop(), next.scanner.stop()]);
  });
});
