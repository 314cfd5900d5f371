import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import {
  deleteFiatAccountCommand,
  type FiatAccountTables,
  reviewFiatAccountCommand,
  updateFiatAccountCommand,
} from '../../src/fiat-accounts/commands.ts';
import type { FiatAccount } from '../../src/fiat-accounts/fiat-account.ts';
import { workerActor } from '../../src/kernel/actor.ts';
import type { Command } from '../../src/ledger/command.ts';
import { storedDestination } from '../../src/sandbox/journal-store.ts';
import { hold, patient, stopAtCommit, untilBlockedBy } from '../support/barriers.ts';
import { createTestWritePath } from '../support/ledger.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

const CHANGED = '{"cubix":{"account_id":"changed"}}';

let world: World;
let node: Node;
let tables: FiatAccountTables;
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
  tables = { ...world.creation, withdrawalWakes: world.withdrawalWakes, approvesAutomatically: false };
});
afterAll(() => world.drop());

const review = (id: string, status: 'APPROVED' | 'REJECTED') =>
  reviewFiatAccountCommand(
    workerActor('test'),
    id,
    { status, reason: 'Looked at.' },
    { customerId: undefined },
    tables,
  );

async function waiting(kind: 'wire' | 'cubix' = 'wire') {
  const profile = await world.createProfile({ USD: '120' });
  const account = await world.createAccount(kind, 'PENDING');
  const { id } = await world.withdrawFiat(profile, account);
  await world.settle(node);
  expect(await world.transferOf(id)).toMatchObject({
    status: 'PENDING',
    secondaryStatus: { name: 'AWAITING_FIAT_ACCOUNT_APPROVAL' },
  });
  expect(await world.paymentsOf(id)).toEqual([]);
  return { profile, account, id };
}

async function expectReturned(id: string, profile: string, name: string): Promise<void> {
  expect(await world.transferOf(id)).toMatchObject({ status: 'FAILED', secondaryStatus: { name } });
  expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '120', held: '0' });
  expect(await world.paymentsOf(id)).toEqual([]);
  expect((await world.eventsOf(id)).at(-1)).toBe('transfer.wire_withdrawal.failed');
}

describe('a withdrawal that waits for the review of its fiat account', () => {
  it('is paid when the account is approved', async () => {
    const { account, id, profile } = await waiting();
    await node.writePath.submit(review(account, 'APPROVED'));
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '0', held: '0' });
  });

  it('fails when the account is rejected, and its whole total returns', async () => {
    const { account, id, profile } = await waiting();
    await node.writePath.submit(review(account, 'REJECTED'));
    await world.settle(node);
    await expectReturned(id, profile, 'FIAT_ACCOUNT_REJECTED');
  });

  it('fails when the account is deleted', async () => {
    const { account, id, profile } = await waiting();
    await node.writePath.submit(deleteFiatAccountCommand(world.caller, account, tables));
    await world.settle(node);
    await expectReturned(id, profile, 'FIAT_ACCOUNT_DELETED');
  });

  it('waits again when the account is changed before the payment, and is paid to the changed account', async () => {
    const profile = await world.createProfile({ USD: '120' });
    const account = await world.createAccount('cubix');
    const { id } = await world.withdrawFiat(profile, account);
    const change = { fiat_network_instructions: { cubix: { account_id: 'changed' } } };
    await node.writePath.submit(updateFiatAccountCommand(world.caller, account, change, tables));
    await world.settle(node);
    expect((await world.transferOf(id)).secondaryStatus!.name).toBe('AWAITING_FIAT_ACCOUNT_APPROVAL');
    await node.writePath.submit(review(account, 'APPROVED'));
    await world.settle(node);
    const destination = storedDestination(world.database, CHANGED);
    expect(await world.paymentsOf(id)).toMatchObject([{ destination }]);
  });

  it('that is already in flight is not stopped by a deletion', async () => {
    const profile = await world.createProfile({ USD: '120' });
    const account = await world.createAccount('wire');
    const { id } = await world.withdrawFiat(profile, account);
    await node.worker.runDue();
    expect((await world.transferOf(id)).secondaryStatus!.name).toBe('SUBMITTED');
    await node.writePath.submit(deleteFiatAccountCommand(world.caller, account, tables));
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });

  it('is one of many: all are paid, a bounded number at a time', async () => {
    const profile = await world.createProfile({ USD: '100000' });
    const account = await world.createAccount('cubix', 'PENDING');
    const all = Array.from({ length: 300 }, () => world.withdrawFiat(profile, account, { amount: '1' }));
    await Promise.all(all);
    await world.settle(node);
    await node.writePath.submit(review(account, 'APPROVED'));
    await world.settle(node);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '99700', held: '0' });
  });
});

/** Changes the account while a worker has read it for a payment, and has not committed the intent. */
async function whileIntending(account: string, command: Command<FiatAccount>) {
  const profile = await world.createProfile({ USD: '120' });
  const { id } = await world.withdrawFiat(profile, account);
  const databases = [world.connect(), world.connect()] as const;
  const intending = stopAtRailCall(patient(databases[0]));
  const changing = world.createNode({ database: patient(databases[1]) });
  // The worker has read the account, but not the withdrawal.
  const holder = await hold(world.database, 'select from transfers where id = $1 for update', [id]);
  const worked = intending.worker.runDue();
  const pid = await untilBlockedBy(world.database, holder.pid);
  const changed = changing.writePath.submit(command);
  const order = await Promise.race([
    changed.then(() => 'the change does not wait'),
    untilBlockedBy(world.database, pid).then(() => 'the change waits'),
  ]);
  await holder.release();
  await changed;
  const paymentsBefore = await world.database.query(
    'select state from withdrawal_work where transfer_id = $1',
    [id],
  );
  intending.go();
  await worked;
  await Promise.all(databases.map((database) => database.close()));
  return { id, order, paymentsBefore };
}

/** A node that stops after its intent is committed, before the rail is called. */
function stopAtRailCall(database: Database) {
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  const { worker } = world.createNode({
    database,
    checkpoint: async (name) => {
      if (name === 'after the intent is committed, before the rail is called') await gone;
    },
  });
  return { worker, go };
}

describe('a withdrawal does not wait without end', () => {
  it('when its account is approved while a worker finishes the previous approval', async () => {
    const { account, id } = await waiting('cubix');
    const change = { metadata: { changed: 'yes' } };
    // The wake-up of the first approval is still pending when the account waits for another review.
    await node.writePath.submit(review(account, 'APPROVED'));
    await node.writePath.submit(updateFiatAccountCommand(world.caller, account, change, tables));
    const databases = [world.connect(), world.connect()] as const;
    const waking = world.createNode({ database: patient(databases[0]) });
    const approving = stopAtCommit(patient(databases[1]));
    const approver = world.createNode({ database: approving.database });
    // The worker has taken the wake-up, and has not read the withdrawals yet.
    const holder = await hold(world.database, 'lock table withdrawal_work in share mode');
    const woken = waking.worker.runDue();
    const pid = await untilBlockedBy(world.database, holder.pid);
    const approved = approver.writePath.submit(review(account, 'APPROVED'));
    await Promise.race([approving.stopped, untilBlockedBy(world.database, pid)]);
    await holder.release();
    // It waits until the approval is committed, and finds the account approved.
    await untilBlockedBy(world.database, await approving.stopped);
    approving.go();
    await approved;
    expect(await woken).toBe(1);
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    await Promise.all(databases.map((database) => database.close()));
  });

  it('when its account is approved while a worker is about to record that it waits', async () => {
    const account = await world.createAccount('wire', 'PENDING');
    const { id, order } = await whileIntending(account, review(account, 'APPROVED'));
    expect(order).toBe('the change waits');
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });
});

describe('the account of a payment that a worker is about to send', () => {
  it.each<[string, (account: string) => Command<FiatAccount>]>([
    ['deleted', (account) => deleteFiatAccountCommand(world.caller, account, tables)],
    [
      'changed',
      (account) => {
        const change = { fiat_network_instructions: { cubix: { account_id: 'changed' } } };
        return updateFiatAccountCommand(world.caller, account, change, tables);
      },
    ],
  ])('is %s only after the payment is fixed: nothing is sent afterwards', async (_what, command) => {
    const account = await world.createAccount('cubix');
    const { id, order, paymentsBefore } = await whileIntending(account, command(account));
    expect(order).toBe('the change waits');
    // Whoever changed the account, and has the answer, can rely on it: every payment to the old one has begun before.
    expect(paymentsBefore).toEqual([{ state: 'SUBMITTING' }]);
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    const [payment, ...others] = await world.paymentsOf(id);
    expect(payment!.requests).toBe(1);
    expect(payment!.destination).not.toBe(storedDestination(world.database, CHANGED));
    expect(others).toEqual([]);
  });
});

it('no withdrawal waits without end when it is created while another node reviews the account', async () => {
  const profile = await world.createProfile({ USD: '1000000' });
  const other = createTestWritePath(world.database);
  const second = world.createNode();
  for (let round = 0; round < 40; round += 1) {
    const account = await world.createAccount('cubix', 'PENDING');
    const verdict = round % 2 === 0 ? 'APPROVED' : 'REJECTED';
    const before = world.withdrawFiat(profile, account, { amount: '1' }).catch(() => undefined);
    const work = [node.worker.runDue(), second.worker.runDue()];
    const [first, outcome] = await Promise.all([
      before,
      world.withdrawFiat(profile, account, { amount: '2' }, other).catch(() => undefined),
      node.writePath.submit(review(account, verdict)),
      ...work,
      node.worker.runDue(),
    ]);
    await Promise.all([world.settle(node), world.settle(second)]);
    for (const transfer of [first, outcome]) {
      if (transfer === undefined) continue;
      const { status } = await world.transferOf(transfer.id);
      expect(status).toBe(verdict === 'APPROVED' ? 'COMPLETED' : 'FAILED');
    }
  }
  expect(await world.database.query('select 1 from withdrawal_work')).toEqual([]);
  expect(await world.database.query('select 1 from withdrawal_wakes')).toEqual([]);
  await other.stop();
});
