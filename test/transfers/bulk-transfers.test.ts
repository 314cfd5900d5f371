import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import { eventsOf } from '../support/events.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { balanceOf, disableProfile, expectNothingWritten } from '../support/transfers.ts';

const PATH = '/v2/transfer/platform/bulk';
const SINGLE = '/v2/transfer/platform';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let from: string;
let to: string;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  from = await service.createProfile(alice, { USD: '1000000' });
  to = await service.createProfile(bob);
});
afterAll(() => service.stop());

type Order = Record<string, unknown> & { ref_id: string };
const order = (changes: object = {}): Order => ({
  from_profile_id: from,
  to_profile_id: to,
  asset: 'USD',
  amount: '1',
  ref_id: newId(),
  ...changes,
});
const send = (transfers: readonly unknown[], more: object = {}): Promise<Answer> =>
  alice.call('POST', PATH, { transfers, ...more });
const atomically = (transfers: readonly unknown[]): Promise<Answer> => send(transfers, { atomic: true });
const refused = (transfers: readonly unknown[]): Promise<Answer> =>
  expectNothingWritten(service, () => atomically(transfers));
const pairs = ({ body }: Answer): unknown[] => body.results.map((one: any) => [one.ref_id, one.status]);
const available = async (profile: string): Promise<string> =>
  (await balanceOf(service, profile, 'USD')).available;

describe('a bulk of transfers', () => {
  it('answers each transfer in its place, as a request of its own would be answered', async () => {
    const poor = await service.createProfile(alice, { USD: '2' });
    const off = await service.createProfile(alice, { USD: '2' });
    await disableProfile(service, off);
    const orders = [
      order({ amount: '1.50', metadata: { month: '11' }, recipient_metadata: { payroll: 'yes' } }),
      order({ from_profile_id: poor, amount: '3' }),
      order({ amount: '0.001' }),
      order({ to_profile_id: newId() }),
      order({ from_profile_id: off }),
      order({ asset: 'XYZ' }),
      order({ from_profile_id: poor, amount: '2' }),
    ];
    const answer = await send(orders);
    expect(answer.status).toBe(200);
    expect(pairs(answer)).toEqual(
      [200, 403, 400, 404, 403, 400, 200].map((status, index) => [orders[index]!.ref_id, status]),
    );
    const [first, second, third, , , sixth] = answer.body.results;
    const { transfer } = first;
    expect(transfer).toMatchObject({
      amount: '1.5',
      ref_id: orders[0]!.ref_id,
      metadata: { month: '11' },
      type: 'PLATFORM_TRANSFER_DEBIT',
      status: 'COMPLETED',
    });
    expect((await alice.call('GET', `/v2/transfer/transfers/${transfer.id}`)).body).toEqual(transfer);
    expect(second.problem).toMatchObject({
      type: `${service.url}/problems/insufficient-funds`,
      status: 403,
      meta: { profile_id: poor, available: '2', needed: '3' },
    });
    expect(third.problem.meta.errors[0].pointer).toBe('/transfers/2/amount');
    expect(sixth.problem.detail).toMatch(/^\/transfers\/5\/asset must be a known asset/);
    expect(await available(poor)).toBe('0');
  });

  it('executes transfers in their order: one can spend what those before it bring', async () => {
    const [a, b, c] = [
      await service.createProfile(alice, { USD: '5' }),
      await service.createProfile(alice),
      await service.createProfile(alice),
    ];
    const chain = [
      order({ from_profile_id: a, to_profile_id: b, amount: '5' }),
      order({ from_profile_id: b, to_profile_id: c, amount: '5' }),
    ];
    const backwards = await refused(chain.toReversed());
    expect(expectProblem(backwards, 403, 'insufficient-funds').index).toBe(0);
    expect(pairs(await atomically(chain)).map((pair) => (pair as unknown[])[1])).toEqual([200, 200]);
    expect(await available(c)).toBe('5');
  });

  it('has an event and a line in the audit log for each transfer, with the actor and the request', async () => {
    const orders = [order(), order()];
    const answer = await alice.call('POST', PATH, { transfers: orders }, { 'x-request-id': 'payroll-11' });
    for (const { transfer } of answer.body.results) {
      const events = await eventsOf(service.database, transfer.id);
      expect(events.map(({ type }) => type)).toEqual(['transfer.platform_transfer_debit.completed']);
      const actor = async () =>
        (await alice.call('GET', `/v2/audit-log?resource_ids=${transfer.id}`)).body.items[0]?.actor;
      // The log has a line some milliseconds after the answer.
      await expect.poll(actor).toMatchObject({ kind: 'CLIENT', request_id: 'payroll-11' });
    }
  });

  it('takes the largest number of transfers, with all their fields, and no more', async () => {
    const recipient = await service.createProfile(bob);
    const text = 'x'.repeat(10);
    const metadata = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`key-${index}`, text]));
    const orders = Array.from({ length: LIMITS.bulkTransfersMax }, () =>
      order({ to_profile_id: recipient, metadata, recipient_metadata: metadata }),
    );
    const answer = await send(orders);
    expect(answer.body.results.filter((one: any) => one.status === 200)).toHaveLength(orders.length);
    expect(await available(recipient)).toBe(String(orders.length));
    const repeated = await atomically(orders);
    expect(repeated.body.results.every((one: any) => one.replayed)).toBe(true);
    expect(repeated.body.results.map((one: any) => one.transfer)).toEqual(
      answer.body.results.map((one: any) => one.transfer),
    );
    const many = await expectNothingWritten(service, () => send([...orders, order()]));
    expectInvalid(many, '/transfers');
    expect(many.body.detail).toBe(`/transfers must have at most ${LIMITS.bulkTransfersMax} items.`);
  });

  it('is refused as a whole if its shape is wrong, and names every field', async () => {
    expectInvalid(await send([]), '/transfers');
    const { ref_id: _, ...without } = order();
    const answer = await expectNothingWritten(service, () =>
      send([order(), without, order({ amount: 1, colour: 'red' })]),
    );
    expectInvalid(answer, '/transfers/1/ref_id', '/transfers/2/amount', '/transfers/2/colour');
    expectInvalid(await send([order()], { atomic: 'yes' }), '/atomic');
  });

  it('is refused as a whole if a ref_id comes twice', async () => {
    const [one, other] = [order(), order()];
    const answer = await expectNothingWritten(service, () => send([one, other, { ...one, amount: '2' }]));
    expectInvalid(answer, '/transfers/2/ref_id');
    expect(answer.body.detail).toBe('/transfers/2/ref_id must differ from the ref_id of /transfers/0.');
  });

  it('needs the scope of single transfers, and debits only own profiles', async () => {
    const weak = await service.createCustomer({ scopes: ['transfer:write_internal_transfer'] });
    expectProblem(await weak.call('POST', PATH, { transfers: [order()] }), 403, 'insufficient-scope');
    const answer = await bob.call('POST', PATH, { transfers: [order()] });
    expect(answer.body.results[0]).toMatchObject({ status: 404, problem: { meta: { id: from } } });
  });

  it('requires the end users of third-party integrations', async () => {
    const carol = await service.createCustomer({ integration: 'THIRD_PARTY' });
    const own = await service.createProfile(carol, { USD: '5' });
    const body = { transfers: [order({ from_profile_id: own })] };
    const { results } = (await carol.call('POST', PATH, body)).body;
    expect(results[0].problem.meta.errors.map((one: any) => one.pointer)).toEqual([
      '/transfers/0/from_account_id',
      '/transfers/0/to_account_id',
    ]);
    expectInvalid(
      await carol.call('POST', PATH, { ...body, atomic: true }),
      '/transfers/0/from_account_id',
      '/transfers/0/to_account_id',
    );
  });

  it('executes nothing for a frozen profile, and everything else', async () => {
    const frozen = await service.createProfile(alice, { USD: '5' });
    const asked = { scope: 'PROFILE', subject_id: frozen, reason: 'CASE-1' };
    const freeze = await alice.call('POST', '/v2/operator/freezes', asked);
    expect(freeze.status).toBe(200);
    const orders = [order({ from_profile_id: frozen }), order()];
    expect(pairs(await send(orders)).map((pair) => (pair as unknown[])[1])).toEqual([403, 200]);
    const meta = expectProblem(await refused([order(), order({ to_profile_id: frozen })]), 403, 'forbidden');
    expect(meta.index).toBe(1);
  });
});

describe('a ref_id in a bulk', () => {
  it('is the same transfer as in a request of its own', async () => {
    const [single, both] = [order(), order()];
    const alone = await alice.call('POST', SINGLE, single);
    const answer = await send([single, both]);
    expect(answer.body.results[0]).toEqual({
      ref_id: single.ref_id,
      status: 200,
      replayed: true,
      transfer: alone.body,
    });
    expect(answer.body.results[1].replayed).toBeUndefined();
    const after = await alice.call('POST', SINGLE, both);
    expect(after.headers.get('idempotent-replayed')).toBe('true');
    expect(after.body).toEqual(answer.body.results[1].transfer);
  });

  it('that was used for something else is a conflict of that transfer, whatever the others are', async () => {
    const used = order();
    await alice.call('POST', SINGLE, used);
    const answer = await send([{ ...used, amount: '2' }, order()]);
    expect(answer.body.results[0]).toMatchObject({
      status: 409,
      problem: { meta: { differs: ['amount'], existing: { ref_id: used.ref_id, amount: '1' } } },
    });
    expect(answer.body.results[1].status).toBe(200);
    const internal = order({ to_profile_id: await service.createProfile(alice) });
    await alice.call('POST', '/v2/transfer/internal', internal);
    expect((await send([internal])).body.results[0].problem.meta.differs).toEqual(['operation']);
  });

  it('is executed once, however many bulks and single requests have it at the same time', async () => {
    const recipient = await service.createProfile(bob);
    const orders = Array.from({ length: 20 }, () => order({ to_profile_id: recipient }));
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, (_, index) => send(orders, { atomic: index % 2 === 0 })),
      ...orders.map((one) => alice.call('POST', SINGLE, one)),
      send(orders.toReversed()),
    ]);
    const ids = answers.flatMap(({ body }) =>
      (body.results ?? [{ transfer: body }]).map(({ transfer }: any) => `${transfer.ref_id} ${transfer.id}`),
    );
    expect(new Set(ids).size).toBe(orders.length);
    expect(await available(recipient)).toBe(String(orders.length));
  });
});

describe('an atomic bulk', () => {
  it('executes nothing if one transfer is refused, and says which', async () => {
    const poor = await service.createProfile(alice, { USD: '10' });
    const good = [order({ from_profile_id: poor, amount: '6' }), order()];
    const bad = order({ from_profile_id: poor, amount: '6' });
    const answer = await refused([...good, bad]);
    expect(expectProblem(answer, 403, 'insufficient-funds')).toMatchObject({
      index: 2,
      available: '4',
      needed: '6',
    });
    expect(answer.body.detail).toMatch(/^Nothing was executed, because of \/transfers\/2: Profile /);
    // No ref_id was used up, and the balance is what it was.
    expect(await available(poor)).toBe('10');
    expect(pairs(await atomically(good)).map((pair) => (pair as unknown[])[1])).toEqual([200, 200]);
    expect(await available(poor)).toBe('4');
  });

  it('names every transfer that is invalid by itself', async () => {
    const one = await refused([order(), order({ amount: '0.001' })]);
    expect(expectProblem(one, 400, 'exceeds-precision')).toMatchObject({ index: 1, max_decimals: 2 });
    const several = await refused([order({ asset: 'XYZ' }), order(), order({ to_profile_id: from })]);
    expectInvalid(several, '/transfers/0/asset', '/transfers/2/to_profile_id');
  });

  it('that is repeated gets the transfers of the first time', async () => {
    const orders = [order(), order(), order()];
    const first = await atomically(orders);
    const again = await atomically(orders);
    expect(again.body.results).toEqual(first.body.results.map((one: any) => ({ ...one, replayed: true })));
  });

  it('with transfers that exist already executes the others, all or none', async () => {
    const [made, fresh] = [order(), order()];
    await alice.call('POST', SINGLE, made);
    const failing = await refused([made, fresh, order({ amount: '99999999' })]);
    expect(expectProblem(failing, 403, 'insufficient-funds').index).toBe(2);
    const answer = await atomically([made, fresh]);
    expect(answer.body.results.map((one: any) => one.replayed)).toEqual([true, undefined]);
  });

  it('with a ref_id that was used for something else executes nothing', async () => {
    const used = order();
    await alice.call('POST', SINGLE, used);
    const answer = await refused([order(), { ...used, amount: '3' }]);
    expect(expectProblem(answer, 409, 'already-exists')).toMatchObject({
      index: 1,
      differs: ['amount'],
      existing: { ref_id: used.ref_id, amount: '1' },
    });
  });
});
