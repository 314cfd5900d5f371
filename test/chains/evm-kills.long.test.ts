import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKPOINTS } from '../../src/chains/keeper.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Anvil, LANE } from '../support/anvil.ts';
import { createEvmWorld, type EvmWorld, startAnvil } from '../support/evm-world.ts';
import { until } from '../support/until.ts';

/** What happens on the chain while the keeper is dead, and afterwards: judged by the chain. */

let anvil: Anvil;
let world: EvmWorld;
const LEASE_MS = 200;
const ETHER = 10n ** 18n;
const payee = (): string => `0x${newId().replaceAll('-', '')}00000001`;

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
  await anvil.mine(20);
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});

const nonce = async (): Promise<number> =>
  Number(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));

async function bytesOf(transferId: string): Promise<string[]> {
  const rows = await world.database.query<{ bytes: string }>(
    `select v.bytes from chain_versions v join chain_assignment_payments p using (assignment_id) where p.key = $1`,
    [transferId],
  );
  return rows.map(({ bytes }) => bytes);
}

const FAULTS: Readonly<Record<string, (transferId: string) => Promise<unknown>>> = {
  'nothing else happens': () => anvil.mine(),
  'the pools of the nodes are wiped': () => anvil.call('anvil_dropAllTransactions'),
  'one block is reorganised away': async () => {
    await anvil.mine();
    await anvil.call('anvil_reorg', [1, []]);
  },
  'ten blocks are reorganised away': async () => {
    await anvil.mine(10);
    await anvil.call('anvil_reorg', [10, []]);
  },
  'its bytes are sent again by somebody else': async (id) => {
    await anvil.mine();
    for (const bytes of await bytesOf(id))
      await anvil.call('eth_sendRawTransaction', [bytes]).catch(() => undefined);
    await anvil.mine();
  },
};

const settings = { policy: { depth: 12, tag: 'latest' } } as const;

/** Where bytes are on the chain and the service does not know it: all checkpoints only in long runs, and there with real processes too. */
const HOT = ['after the broadcast'] as const;
const isLong = process.env.FERRY_TEST_LONG !== undefined;

describe.each(Object.entries(FAULTS))('a keeper dies, and %s', (what, fault) => {
  it.each(isLong || what === 'nothing else happens' ? CHECKPOINTS : HOT)(
    '%s: the payment is on the chain once',
    async (at) => {
      let hasDied = false;
      const dying = await world.createNode({
        settings,
        leaseMs: LEASE_MS,
        async checkpoint(name) {
          if (name === at) hasDied = true;
          // Nothing of a process that was killed goes on.
          if (hasDied) throw new Error('killed');
        },
      });
      const next = await world.createNode({ settings, leaseMs: LEASE_MS });
      const profileId = await world.createProfile({ ETH: '10' });
      const to = payee();
      const before = await nonce();
      const { id } = await world.withdraw(profileId, 'ETH', '1', to);
      await until('the keeper has died', async () => {
        await dying.worker.runDue();
        await dying.keepers[0]!.run().catch(() => undefined);
        await anvil.mine();
        return hasDied;
      });
      await fault(id);
      await until(
        'the lease of the dead keeper has expired',
        async () => (await next.keepers[0]!.run()) !== undefined,
      );
      const [ended] = await world.settle(next, [id]);
      expect(ended).toMatchObject({ status: 'COMPLETED' });
      expect(await anvil.balance(to)).toBe(ETHER);
      expect(await nonce()).toBe(before + 1);
      await world.expectBooked();
      await Promise.all([next.keepers[0]!.stop(), next.scanner.stop()]);
    },
  );
});
