import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { DECIDES_ALONE, type HandOver } from '../../src/ledger/hand-over.ts';
import type { Ended } from '../../src/ledger/write-path.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { createInsideTransfers, type InsideTransfers } from '../../src/transfers/inside.ts';
import { assets, createTestWritePath } from '../support/ledger.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';

/** A node that hands over, the node that decides, and a link between them that loses the reply. */
let service: TestService;
let customer: TestCustomer;
let from: string;
let to: string;
let deciding: ReturnType<typeof createTestWritePath>;
let own: ReturnType<typeof createTestWritePath>;
let execute: (text: string) => Promise<Ended<string>>;
let inside: InsideTransfers;
/** What the link does with a text. */
let send: HandOver['send'];

beforeAll(async () => {
  service = await startTestService();
  const { database } = service;
  deciding = createTestWritePath(database);
  own = createTestWritePath(database);
  const shared = { database, assets, networks: NETWORKS, ...SHARED_TABLES };
  const serve: HandOver['serve'] = (given) => {
    execute = given;
  };
  createInsideTransfers({ ...shared, writePath: deciding, handOver: { ...DECIDES_ALONE, serve } });
  const handOver: HandOver = { isElsewhere: () => true, send: (text) => send(text), serve: () => undefined };
  inside = createInsideTransfers({ ...shared, writePath: own, handOver });
});
beforeEach(async () => {
  customer = await service.createCustomer();
  from = await service.createProfile(customer, { USD: '100' });
  to = await service.createProfile(customer);
});
afterAll(async () => {
  await Promise.all([deciding.stop(), own.stop()]);
  await service.stop();
});

function prepare(refId: string | undefined, amount = '1') {
  const caller: Caller = {
    customerId: customer.id,
    clientId: newId(),
    scopes: new Set(),
    integration: 'FIRST_PARTY',
  };
  const request = { from_profile_id: from, to_profile_id: to, asset: 'USD', amount };
  return inside.prepare('PLATFORM', caller, refId === undefined ? request : { ...request, ref_id: refId });
}

/** The transfer is there once, with its entries, and was answered as a new one. */
async function expectOnce(count: number, units = 100n): Promise<void> {
  const [row] = await service.database.query<{ debits: bigint; available: bigint }>(
    `select (select count(*) from transfers where profile_id = $1) as debits,
            (select available from balances where profile_id = $1 and asset = 'USD') as available`,
    [from],
  );
  expect(row).toEqual({ debits: BigInt(count), available: 10_000n - units * BigInt(count) });
}

const REF_IDS = [
  ['with a ref_id', () => newId() as string | undefined],
  ['without a ref_id', () => undefined],
] as const;

describe.each(REF_IDS)('a transfer %s whose reply is lost', (_name, newRefId) => {
  it('is answered as it was executed, if the deciding node has executed it', async () => {
    send = async (text) => {
      expect(await execute(text)).toMatchObject({ outcome: { replayed: false } });
      return 'lost';
    };
    const transfer = prepare(newRefId());
    const outcome = await inside.submit(transfer);
    expect(outcome).toMatchObject({ replayed: false });
    await expectOnce(1);
  });

  it('is executed by the node itself, if the deciding node has not', async () => {
    send = () => Promise.resolve('lost');
    expect(await inside.submit(prepare(newRefId()))).toMatchObject({ replayed: false });
    await expectOnce(1);
  });

  it('is not executed again by a deciding node that comes back later', async () => {
    let late = '';
    send = (text) => {
      late = text;
      return Promise.resolve('lost');
    };
    await inside.submit(prepare(newRefId()));
    const ended = await execute(late);
    expect('error' in ended || ended.outcome.replayed).toBe(true);
    await expectOnce(1);
  });

  it('is executed once, however the two nodes meet', async () => {
    const COUNT = 60;
    const late: Promise<unknown>[] = [];
    send = async (text) => {
      const started = sleep(Math.random() * 8).then(() => execute(text));
      late.push(started);
      await sleep(Math.random() * 8);
      return 'lost';
    };
    const outcomes = await Promise.all(
      Array.from({ length: COUNT }, () => inside.submit(prepare(newRefId()))),
    );
    await Promise.all(late);
    expect(outcomes.filter(({ replayed }) => replayed)).toEqual([]);
    await expectOnce(COUNT);
  });
});

it('a transfer that took the last funds is answered as executed, and not as refused', async () => {
  send = async (text) => {
    // Executed between the look for the transfer and the second execution.
    late = own.submit;
    own.submit = async (command) => {
      own.submit = late!;
      await execute(text);
      return late!(command);
    };
    return 'lost';
  };
  let late: typeof own.submit | undefined;
  expect(await inside.submit(prepare(undefined, '100'))).toMatchObject({ replayed: false });
  await expectOnce(1, 10_000n);
});

it.each([
  ['with a ref_id', newId(), 1],
  ['without a ref_id', undefined, undefined],
])(
  'a refusal %s after the reply was lost is not told as one: the outcome is not known',
  async (_name, refId, retry) => {
    send = () => Promise.resolve('lost');
    await expect(inside.submit(prepare(refId, '101'))).rejects.toMatchObject({
      slug: 'unavailable',
      message: expect.stringContaining('the outcome is not known yet'),
      retryAfterSeconds: retry,
    });
    await expectOnce(0);
  },
);

it('a transfer that the deciding node declines is executed by the node itself', async () => {
  send = () => Promise.resolve('declined');
  expect(await inside.submit(prepare(newId()))).toMatchObject({ replayed: false });
  await expectOnce(1);
});

it('a replay of an earlier request is still one after its reply was lost', async () => {
  const refId = newId();
  send = execute;
  await inside.submit(prepare(refId));
  send = () => Promise.resolve('lost');
  expect(await inside.submit(prepare(refId))).toMatchObject({ replayed: true, differs: [] });
  await expectOnce(1);
});
