import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKPOINTS, type Checkpoint } from '../../src/chains/keeper.ts';
import { until } from '../support/until.ts';
import {
  createUtxoWorld,
  hasLitecoind,
  payee,
  type UtxoNode,
  type UtxoWorld,
} from '../support/utxo-world.ts';

/** What happens on the chain while the keeper of a wallet is dead, and afterwards: judged by the chain. */

const LEASE_MS = 200;
/** Those where bytes may be on the chain. */
const HOT = CHECKPOINTS.slice(3, 6);
const isLong = process.env.FERRY_TEST_LONG !== undefined;
/** All others only in long runs. */
const SAMPLE = 'one block is reorganised away, and the mempool is wiped';

const FAULTS: Readonly<Record<string, (world: UtxoWorld, transferId: string) => Promise<void>>> = {
  'nothing else happens': (world) => world.chain.mine(1),
  'the mempool of the node is wiped': (world) => world.chain.restart(),
  'one block is reorganised away': async (world) => {
    await world.chain.mine(1);
    await world.takeBack(1);
    await world.mineEmpty();
    await world.mineEmpty();
  },
  'one block is reorganised away, and the mempool is wiped': async (world) => {
    await world.chain.mine(1);
    await world.takeBack(1);
    await world.chain.restart();
    await world.mineEmpty();
    await world.mineEmpty();
  },
  'its bytes are sent again by somebody else': async (world, id) => {
    const rows = await world.database.query<{ bytes: string }>(
      `select v.bytes from chain_versions v join chain_assignment_payments p using (assignment_id) where p.key = $1`,
      [id],
    );
    const sendAll = async (): Promise<void> => {
      for (const { bytes } of rows) await world.chain.rpc('sendrawtransaction', bytes).catch(() => undefined);
    };
    await sendAll();
    await world.chain.mine(1);
    await sendAll();
  },
};

describe.runIf(hasLitecoind)('a keeper of a wallet', () => {
  let world: UtxoWorld;
  let next: UtxoNode;
  let payees = 0;

  beforeAll(async () => {
    world = await createUtxoWorld();
    next = await world.createNode({ leaseMs: LEASE_MS });
    await Promise.all([...world.node.keepers, world.node.scanner].map(async (one) => one.stop()));
  });
  afterAll(() => world?.drop());

  async function createDying(at: Checkpoint) {
    let hasDied = false;
    const node = await world.createNode({
      leaseMs: LEASE_MS,
      async checkpoint(name) {
        if (name === at) hasDied = true;
        // Nothing of a process that was killed goes on.
        if (hasDied) throw new Error('killed');
      },
    });
    return { node, hasDied: () => hasDied };
  }

  describe.each(isLong ? Object.entries(FAULTS) : Object.entries(FAULTS).filter(([what]) => what === SAMPLE))(
    'dies, and %s',
    (_, fault) => {
      it.each(isLong ? CHECKPOINTS : HOT)('%s: the payment is on the chain once', async (at) => {
        const dying = await createDying(at);
        const profileId = await world.createProfile({ LTC: '2' });
        payees += 1;
        const { address, local } = payee(payees);
        const { id } = await world.withdraw(profileId, 'LTC', '1', address);
        await until('the keeper has died', async () => {
          await dying.node.worker.runDue();
          await dying.node.keepers[0]!.run().catch(() => undefined);
          if (!dying.hasDied()) await world.chain.mine(1);
          return dying.hasDied();
        });
        await fault(world, id);
        await until(
          'the lease of the dead keeper has expired',
          async () => (await next.keepers[0]!.run()) !== undefined,
        );
        const [ended] = await world.settle(next, [id]);
        expect(ended).toMatchObject({ status: 'COMPLETED' });
        expect(await world.paidTo(local)).toEqual([100_000_000n]);
        await world.expectBooked();
      });
    },
  );

  it('works beside another one on the same wallet: each payment is made once, by the holder of the lease', async () => {
    const other = await world.createNode({ leaseMs: LEASE_MS });
    const profileId = await world.createProfile({ LTC: '20' });
    const to = Array.from({ length: 12 }, (_, index) => payee(1_000 + index));
    const ids: string[] = [];
    for (const { address } of to) {
      ids.push((await world.withdraw(profileId, 'LTC', '0.2', address)).id);
      await Promise.all([next.worker.runDue(), other.worker.runDue()]);
      await Promise.allSettled([next.keepers[0]!.run(), other.keepers[0]!.run()]);
    }
    await until('both have nothing left', async () => {
      await Promise.allSettled([world.turn(next), world.turn(other)]);
      await world.chain.mine(1);
      const found = await Promise.all(ids.map(world.transferOf));
      return found.every(({ status }) => status === 'COMPLETED');
    });
    const paid = await world.paid(to.map(({ local }) => local));
    expect([...paid.values()]).toEqual(to.map(() => [20_000_000n]));
    await world.expectBooked();
  });
});
