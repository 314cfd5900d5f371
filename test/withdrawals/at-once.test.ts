import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { endCommand, failedByRail } from '../../src/withdrawals/outcome.ts';
import { patient, stopAtCommit, untilBlockedBy } from '../support/barriers.ts';
import { createWorld, type World } from '../support/payouts.ts';

/** Two nodes act on one withdrawal at once: the second waits, and then sees what the first has committed. */
let world: World;
const databases: Database[] = [];
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await world.drop();
});

function connect(): Database {
  const database = world.connect();
  databases.push(database);
  return patient(database);
}

async function withdrawn() {
  const profile = await world.createProfile({ BTC: '2' });
  const { id } = await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN' });
  return { id, profile };
}

/** The rail reports the failure by itself. */
async function planFailure(id: string): Promise<void> {
  const state = { kind: 'failed', reason: 'The payment was returned.' } as const;
  const notice = { id: newId(), about: 'payment', rail: 'BITCOIN', key: id, state } as const;
  await world.journal.plan([{ dueAtNs: world.now(), notice }]);
  world.advance(1);
}

async function expectReturned(id: string, profile: string): Promise<void> {
  expect((await world.transferOf(id)).status).toBe('FAILED');
  expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '2', held: '0' });
  expect(await world.eventsOf(id)).toHaveLength(2);
  expect(await world.database.query('select 1 from withdrawal_work')).toEqual([]);
  await world.expectSound();
}

it('a withdrawal that is being ended is not sent by a worker that was about to send it', async () => {
  const { id, profile } = await withdrawn();
  const sent: string[] = [];
  const { promise: claimed, resolve: claim } = Promise.withResolvers<void>();
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  const sender = world.createNode({
    database: connect(),
    checkpoint: async (name) => {
      if (name !== 'before the intent is committed') return;
      claim();
      await gone;
    },
    wrapRail: (rail): Rail => ({
      ...rail,
      submit(payment, signal) {
        sent.push(payment.key);
        return rail.submit(payment, signal);
      },
    }),
  });
  const ending = stopAtCommit(connect());
  const ender = world.createNode({ database: ending.database });
  const sending = sender.worker.runDue();
  await claimed;
  // As a user of the sandbox does it.
  const report = { rail: 'BITCOIN', ending: failedByRail('BITCOIN', { reason: 'You failed the payment.' }) };
  const told = ender.writePath.submit(endCommand(await world.transferOf(id), report, world.tables));
  const pid = await ending.stopped;
  go();
  await untilBlockedBy(world.database, pid);
  ending.go();
  await Promise.all([sending, told]);
  expect(sent).toEqual([]);
  await expectReturned(id, profile);
});

it('a withdrawal that ends while another node writes its hash on the chain keeps the hash', async () => {
  const { id, profile } = await withdrawn();
  await world.createNode().worker.runDue();
  expect(await world.transferOf(id)).toMatchObject({ secondaryStatus: { name: 'SUBMITTED' } });
  // A little more than one block: it is on the chain, but not final.
  world.advance(605_000);
  const asking = stopAtCommit(connect());
  const asker = world.createNode({ database: asking.database });
  const ender = world.createNode({ database: connect() });
  const asked = asker.worker.runDue();
  const pid = await asking.stopped;
  await planFailure(id);
  const told = ender.notices.runDue();
  await untilBlockedBy(world.database, pid);
  asking.go();
  await Promise.all([asked, told]);
  expect((await world.transferOf(id)).cryptoTxHash).toMatch(/^[0-9a-f]{64}$/);
  await expectReturned(id, profile);
});
