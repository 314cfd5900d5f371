import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freeze, lift } from '../../src/freezes/act.ts';
import type { FreezeScope } from '../../src/freezes/freeze.ts';
import { createResumeWorker } from '../../src/freezes/resume.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { resumeFrozen, submissionsUnderWay } from '../../src/withdrawals/freeze-store.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

const TESTER = cliActor('tester');

/** A freeze at a random moment of many withdrawals on three nodes. */
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.drop());

const WITHDRAWALS = process.env.FERRY_TEST_LONG === undefined ? 200 : 1_000;
const MEMOS = [
  '',
  '',
  '',
  'sandbox:lost',
  'sandbox:timeout',
  'sandbox:down',
  'sandbox:fail',
  'sandbox:twice',
];

const log = { after: false, late: [] as string[], submitted: 0 };

/** Records every request that reaches a rail while the freeze is in force. */
function watched(rail: Rail): Rail {
  return {
    ...rail,
    async submit(payment, signal) {
      log.submitted += 1;
      if (log.after) log.late.push(payment.key);
      await sleep(Math.random() * 10);
      return rail.submit(payment, signal);
    },
  };
}

function startNode(): { stop(): Promise<void>; node: Node } {
  const database = world.connect();
  const node = world.createNode({ database, wrapRail: watched });
  const life = { isStopped: false };
  const running = (async () => {
    while (!life.isStopped) {
      const done = (await node.worker.runDue()) + (await node.notices.runDue());
      if (done === 0) await sleep(5);
    }
  })();
  return {
    node,
    async stop() {
      life.isStopped = true;
      await running;
      await database.close();
    },
  };
}

async function createAll(profile: string): Promise<void> {
  const accounts = [
    await world.createAccount('wire'),
    await world.createAccount('cubix'),
    await world.createAccount('wire', 'PENDING'),
  ];
  await Promise.all(
    Array.from({ length: WITHDRAWALS }, async (_, index) => {
      await sleep((index % 50) * 20);
      const memo = MEMOS[index % MEMOS.length]!;
      const attempt = (): Promise<unknown> =>
        index % 3 === 0
          ? world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN', amount: '0.01', memo })
          : world.withdrawFiat(profile, accounts[index % accounts.length]!, { amount: '10', memo });
      for (;;) {
        const refused = await attempt().then(
          () => undefined,
          (error: { slug?: string; message: string }) => error,
        );
        if (refused === undefined) return;
        // Nothing new while it is frozen; the customer tries again.
        expect([refused.slug, refused.message]).toEqual(['forbidden', `Profile ${profile} is frozen.`]);
        await sleep(20);
      }
    }),
  );
  await world.database.query(`update fiat_accounts set status = 'APPROVED' where status = 'PENDING'`);
  await world.database.query(
    'update withdrawal_work set due_at_ns = 0 where fiat_account_id = $1 and not frozen',
    [accounts[2]!],
  );
}

const resumer = () =>
  createResumeWorker(world.database, [resumeFrozen], (error) => {
    throw error;
  });

const customerOf = (): string => world.caller.customerId;

async function subjectOf(scope: FreezeScope, profile: string): Promise<string | null> {
  if (scope === 'PLATFORM') return null;
  return scope === 'PROFILE' ? profile : customerOf();
}

it('nothing is submitted to a rail after the answer of a freeze, nothing is lost, and everything resumes', async () => {
  await world.database.query(
    `insert into customers (id, name, integration, created_at_ns) values ($1, 'Frozen', 'FIRST_PARTY', 0)`,
    [customerOf()],
  );
  const profile = await world.createProfile({ USD: '10000000', BTC: '10000' });
  const nodes = [startNode(), startNode(), startNode()];
  const creating = createAll(profile);
  creating.catch(() => undefined);
  let stopped = 0;
  for (const scope of ['PROFILE', 'CUSTOMER', 'PLATFORM', 'PROFILE'] as const) {
    await sleep(Math.random() * 400);
    world.advance(2_000);
    const subjectId = await subjectOf(scope, profile);
    const order = { scope, subjectId, reason: 'test', actor: TESTER };
    const frozen = await freeze(world.database, order, [submissionsUnderWay]);
    log.after = true;
    expect(frozen).toMatchObject({ isInForce: true, submissionsUnderWay: 0 });
    // Everything that is due is looked at several times, also after retries and horizons have passed.
    for (let round = 0; round < 5; round += 1) {
      await sleep(60);
      world.advance(61_000);
    }
    const [row] = await world.database.query<{ count: number }>(
      'select count(*)::integer as count from withdrawal_work where frozen',
    );
    stopped += row!.count;
    log.after = false;
    await lift(world.database, frozen.freeze.id, TESTER, 'test');
    await resumer().runDue();
  }
  await creating;
  await Promise.all(nodes.map((node) => node.stop()));
  await resumer().runDue();
  world.advance(61_000);
  await world.settle(world.createNode(), 2_000);

  expect(log.late).toEqual([]);
  expect(stopped).toBeGreaterThan(0);
  const ended = await world.database.query<{ status: string }>(
    `select distinct status from transfers where status = 'PENDING'`,
  );
  expect(ended).toEqual([]);
  const [paid] = await world.database.query<{ count: number }>(
    'select count(*)::integer as count from transfers',
  );
  expect(paid!.count).toBe(WITHDRAWALS);
  const twice = await world.database.query('select key from sandbox_payments where requests <> 1');
  expect(twice).toEqual([]);
  await world.expectSound();
});

it('a withdrawal says that it is frozen, keeps its funds held, and can be cancelled', async () => {
  const profile = await world.createProfile({ USD: '1000' });
  const transfer = await world.withdrawFiat(profile, await world.createAccount('wire'), { amount: '10' });
  const order = { scope: 'PROFILE', subjectId: profile, reason: 'test', actor: TESTER } as const;
  const { freeze: made } = await freeze(world.database, order, [submissionsUnderWay]);
  const node = world.createNode({ wrapRail: watched });
  const before = log.submitted;
  await world.settle(node);
  expect(log.submitted).toBe(before);
  expect((await world.transferOf(transfer.id)).secondaryStatus).toEqual({
    name: 'FROZEN',
    detail: 'On hold, because a party to it is frozen. It is submitted when the freeze is lifted.',
  });
  expect((await world.balanceOf(profile, 'USD')).held).toBe('30');
  const body = { ref_id: newId(), reason: 'fraud', reference: 'CASE-1' };
  await node.operate('cancelWithdrawal', { params: { id: transfer.id }, body });
  expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '1000', held: '0' });
  await lift(world.database, made.id, TESTER, 'test');
});

it('lifting one of two freezes resumes nothing that the other one stops', async () => {
  const profile = await world.createProfile({ USD: '1000' });
  const { id } = await world.withdrawFiat(profile, await world.createAccount('wire'), { amount: '10' });
  const orders = [
    { scope: 'PROFILE', subjectId: profile },
    { scope: 'CUSTOMER', subjectId: customerOf() },
  ] as const;
  const made = [];
  for (const order of orders)
    made.push(await freeze(world.database, { ...order, reason: 'test', actor: TESTER }, []));
  const node = world.createNode();
  await world.settle(node);
  await lift(world.database, made[0]!.freeze.id, TESTER, 'test');
  await resumer().runDue();
  await world.settle(node);
  expect((await world.transferOf(id)).secondaryStatus?.name).toBe('FROZEN');
  await lift(world.database, made[1]!.freeze.id, TESTER, 'test');
  await resumer().runDue();
  await world.settle(node);
  expect((await world.transferOf(id)).status).toBe('COMPLETED');
});

it('an answer says how many payments were being handed to a rail and still are', async () => {
  const profile = await world.createProfile({ USD: '1000' });
  await world.withdrawFiat(profile, await world.createAccount('wire'), { amount: '10' });
  let answered = (): void => undefined;
  const called = Promise.withResolvers<void>();
  const node = world.createNode({
    wrapRail: (rail) => ({
      ...rail,
      async submit(payment, signal) {
        called.resolve();
        await new Promise<void>((resolve) => {
          answered = resolve;
        });
        return rail.submit(payment, signal);
      },
    }),
  });
  const running = node.worker.runDue();
  await called.promise;
  const order = { scope: 'PROFILE', subjectId: profile, reason: 'test', actor: TESTER } as const;
  const freezing = freeze(world.database, order, [submissionsUnderWay]);
  let isAnswered = false;
  void freezing.then(() => {
    isAnswered = true;
  });
  await sleep(300);
  expect([isAnswered, await submissionsUnderWay(world.database)]).toEqual([false, 1]);
  answered();
  await running;
  const { submissionsUnderWay: left, freeze: made } = await freezing;
  expect(left).toBe(0);
  await lift(world.database, made.id, TESTER, 'test');
  await world.settle(world.createNode());
});
