import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { eventsOf } from '../support/events.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import {
  BAD_AMOUNTS,
  balanceOf,
  createAccount,
  createIdentity,
  describeMetadata,
  describeRefIdShape,
  disableProfile,
  expectCommonRefusals,
  expectNamed,
  expectNothingWritten,
  expectOneOfFifty,
  expectOneOfFiftyDifferent,
  NOT_TEXT,
  rawBody,
} from '../support/transfers.ts';

const PATH = '/v2/transfer/platform';
const INTERNAL = '/v2/transfer/internal';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let from: string;
let to: string;
let base: Record<string, unknown>;

beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  from = await service.createProfile(alice, { USD: '1000000', ETH: '100' });
  to = await service.createProfile(bob);
  base = { from_profile_id: from, to_profile_id: to, amount: '12.5', asset: 'USD' };
});
afterAll(() => service.stop());

const send = (changes: object = {}): Promise<Answer> => alice.call('POST', PATH, { ...base, ...changes });
const refused = (changes: object): Promise<Answer> => expectNothingWritten(service, () => send(changes));

describe('an accepted request', () => {
  it('answers with the debit side, and moves the value at once', async () => {
    const own = await service.createProfile(alice, { USD: '100' });
    const theirs = await service.createProfile(bob);
    const answer = await send({
      from_profile_id: own,
      to_profile_id: theirs,
      amount: '12.50',
      ref_id: 'whole',
      metadata: { order: '7' },
      recipient_metadata: { invoice: '8' },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      customer_id: alice.id,
      profile_id: own,
      amount: '12.5',
      total: '12.5',
      fee: '0',
      asset: 'USD',
      balance_asset: 'USD',
      direction: 'DEBIT',
      type: 'PLATFORM_TRANSFER_DEBIT',
      status: 'COMPLETED',
      created_at: expect.stringMatching(/Z$/),
      updated_at: answer.body.created_at,
      ref_id: 'whole',
      metadata: { order: '7' },
      auto_conversion: {},
      group_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '87.5', held: '0' });
    expect(await balanceOf(service, theirs, 'USD')).toEqual({ available: '12.5', held: '0' });
  });

  it('gives the receiver a credit side without details of the sender', async () => {
    const identity = await createIdentity(service, alice);
    const debit = await send({
      ref_id: 'private',
      metadata: { secret: 'yes' },
      recipient_metadata: { invoice: '8' },
      from_identity_id: identity,
      from_account_id: await createAccount(service, alice, identity),
    });
    const group = `/v2/transfer/transfers?group_ids=${debit.body.group_id}`;
    const [credit] = (await bob.call('GET', group)).body.items;
    expect(credit).toEqual({
      id: expect.not.stringMatching(debit.body.id),
      customer_id: bob.id,
      profile_id: to,
      amount: '12.5',
      total: '12.5',
      fee: '0',
      asset: 'USD',
      balance_asset: 'USD',
      direction: 'CREDIT',
      type: 'PLATFORM_TRANSFER_CREDIT',
      status: 'COMPLETED',
      created_at: debit.body.created_at,
      updated_at: debit.body.created_at,
      metadata: { invoice: '8' },
      auto_conversion: {},
      group_id: debit.body.group_id,
    });
    expect((await alice.call('GET', group)).body.items).toEqual([debit.body]);
    expectProblem(await alice.call('GET', `/v2/transfer/transfers/${credit.id}`), 404, 'not-found');
    expect(await eventsOf(service.database, debit.body.id)).toEqual([
      { customer_id: alice.id, type: 'transfer.platform_transfer_debit.completed', resource: debit.body },
    ]);
    expect(await eventsOf(service.database, credit.id)).toEqual([
      { customer_id: bob.id, type: 'transfer.platform_transfer_credit.completed', resource: credit },
    ]);
  });

  it('moves every unit of an asset with 18 decimals', async () => {
    const amount = '1.000000000000000001';
    expect((await send({ asset: 'ETH', amount })).body).toMatchObject({ amount, total: amount });
  });
});

describe('fields', () => {
  it.each(['from_profile_id', 'to_profile_id', 'amount', 'asset'])('%s is required', async (field) => {
    expectInvalid(await refused({ [field]: undefined }), `/${field}`);
  });

  const ids = [
    'from_profile_id',
    'to_profile_id',
    'from_identity_id',
    'from_account_id',
    'to_identity_id',
    'to_account_id',
  ];
  it.each([...ids, 'asset', 'ref_id'])('%s must be text', async (field) => {
    for (const value of NOT_TEXT) expectInvalid(await refused({ [field]: value }), `/${field}`);
  });

  it.each(ids)('%s must be an id', async (field) => {
    for (const value of ['', 'x', newId().toUpperCase(), `${newId()} `]) {
      expectInvalid(await refused({ [field]: value }), `/${field}`);
    }
  });

  it('requires a known asset', async () => {
    for (const asset of ['DOGE', 'usd', '', 'X'.repeat(13)])
      expectInvalid(await refused({ asset }), '/asset');
  });

  it.each(BAD_AMOUNTS)('%s is not a valid amount', async (json) => {
    const answer = expectNothingWritten(service, () =>
      alice.call('POST', PATH, rawBody(base, 'amount', json)),
    );
    expectNamed(await answer, '/amount');
  });

  it('never rounds: more decimals than the asset has are refused, and the allowed number is named', async () => {
    const answer = await refused({ amount: '1.001' });
    expect(expectProblem(answer, 400, 'exceeds-precision')).toMatchObject({ asset: 'USD', max_decimals: 2 });
    expectNamed(await refused({ asset: 'ETH', amount: `0.${'1'.repeat(19)}` }), '/amount');
  });

  it.each(['.5', '0.5', '00.50'])('reads %s as a half', async (amount) => {
    expect((await send({ amount })).body.amount).toBe('0.5');
  });

  describeMetadata('metadata', send, refused);
  describeMetadata('recipient_metadata', send, refused, false);
  describeRefIdShape(send, refused);

  it('reports an unknown field together with all other errors', async () => {
    const body = { amount: 25, asset: 'USD', total: '1', memo: 'x' };
    const answer = await expectNothingWritten(service, () => alice.call('POST', PATH, body));
    expectInvalid(answer, '/from_profile_id', '/to_profile_id', '/amount', '/total', '/memo');
  });

  it('requires two different profiles', async () => {
    expectInvalid(await refused({ to_profile_id: from }), '/to_profile_id');
  });
});

describe('ownership', () => {
  it('refuses the profile of another customer as the source', async () => {
    const theirs = await service.createProfile(bob, { USD: '500' });
    for (const id of [newId(), theirs]) {
      const meta = expectProblem(await refused({ from_profile_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'profile', id });
    }
  });

  it('answers 404 for an unknown receiver', async () => {
    const id = newId();
    const meta = expectProblem(await refused({ to_profile_id: id }), 404, 'not-found');
    expect(meta).toEqual({ resource: 'profile', id });
  });

  it('requires both profiles to be active, and does not tell a stranger that one is disabled', async () => {
    const own = await service.createProfile(alice, { USD: '500' });
    const theirs = await service.createProfile(bob);
    await disableProfile(service, own);
    await disableProfile(service, theirs);
    const fromDisabled = await refused({ from_profile_id: own });
    expect(expectProblem(fromDisabled, 403, 'forbidden')).toEqual({ profile_id: own });
    const toDisabled = await refused({ to_profile_id: theirs });
    expect(expectProblem(toDisabled, 404, 'not-found')).toEqual({ resource: 'profile', id: theirs });
    const toOwn = await refused({ to_profile_id: own });
    expect(expectProblem(toOwn, 403, 'forbidden')).toEqual({ profile_id: own });
  });

  it('checks both end users: each must belong to the owner of its side', async () => {
    const mine = await createIdentity(service, alice);
    const mineToo = await createIdentity(service, alice);
    const account = await createAccount(service, alice, mine);
    const theirs = await createIdentity(service, bob);
    const theirAccount = await createAccount(service, bob, theirs);
    const disabled = await createIdentity(service, alice, 'DISABLED');
    const actors = {
      from_identity_id: mine,
      from_account_id: account,
      to_identity_id: theirs,
      to_account_id: theirAccount,
    };
    const answer = await send(actors);
    expect(answer.body).toMatchObject({ identity_id: mine, account_id: account });
    expectProblem(await refused({ from_identity_id: theirs }), 404, 'not-found');
    expectProblem(await refused({ to_identity_id: mine }), 404, 'not-found');
    expectProblem(await refused({ to_account_id: account }), 404, 'not-found');
    expectProblem(await refused({ from_identity_id: disabled }), 403, 'forbidden');
    expectInvalid(await refused({ ...actors, from_identity_id: mineToo }), '/from_account_id');
  });

  it('does not tell a stranger that an end user of the receiver is disabled or has another account', async () => {
    const disabled = await createIdentity(service, bob, 'DISABLED');
    const frozen = await createAccount(service, bob, disabled);
    const theirs = await createIdentity(service, bob);
    const other = await createAccount(service, bob, await createIdentity(service, bob));
    for (const [field, id, more] of [
      ['to_identity_id', disabled, {}],
      ['to_identity_id', disabled, { to_account_id: frozen }],
      ['to_account_id', frozen, {}],
      ['to_account_id', frozen, { to_identity_id: theirs }],
      ['to_account_id', other, { to_identity_id: theirs }],
    ] as const) {
      const unknown = newId();
      const hidden = await refused({ ...more, [field]: id });
      const absent = await refused({ ...more, [field]: unknown });
      expect(absent.status).toBe(404);
      expect(JSON.stringify(hidden.body)).toBe(JSON.stringify(absent.body).replaceAll(unknown, id));
    }
  });

  it('a third-party integration must name the accounts of both sides', async () => {
    const carol = await service.createCustomer({ integration: 'THIRD_PARTY' });
    const body = {
      ...base,
      from_profile_id: await service.createProfile(carol, { USD: '50' }),
      to_profile_id: await service.createProfile(carol),
    };
    const answer = await expectNothingWritten(service, () => carol.call('POST', PATH, body));
    expectInvalid(answer, '/from_account_id', '/to_account_id');
    const account = await createAccount(service, carol, await createIdentity(service, carol));
    const actors = { from_account_id: account, to_account_id: account };
    expect((await carol.call('POST', PATH, { ...body, ...actors })).body.account_id).toBe(account);
  });
});

describe('funds', () => {
  it('must cover the amount', async () => {
    const own = await service.createProfile(alice, { USD: '12.49' });
    const meta = expectProblem(await refused({ from_profile_id: own }), 403, 'insufficient-funds');
    expect(meta).toEqual({ profile_id: own, asset: 'USD', available: '12.49', needed: '12.5' });
  });

  it('of another asset do not count', async () => {
    const own = await service.createProfile(alice, { USDC: '100' });
    expectProblem(await refused({ from_profile_id: own }), 403, 'insufficient-funds');
  });

  it('are spent once, however many requests try at once, and may circulate', async () => {
    const one = await service.createProfile(alice, { USD: '100' });
    const two = await service.createProfile(alice, { USD: '100' });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const [source, target] = index % 2 === 0 ? [one, two] : [two, one];
        return send({ from_profile_id: source, to_profile_id: target, amount: '30' });
      }),
    );
    for (const answer of answers) expect([200, 403]).toContain(answer.status);
    const balances = await Promise.all([one, two].map((id) => balanceOf(service, id, 'USD')));
    const sum = balances.reduce((total, { available }) => total + Number(available), 0);
    expect(sum).toBe(200);
  });
});

describe('ref_id', () => {
  it('creates one transfer for fifty equal requests at once', async () => {
    const own = await service.createProfile(alice, { USD: '1000' });
    await expectOneOfFifty(service, alice, PATH, { ...base, from_profile_id: own, ref_id: 'fifty' });
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '987.5', held: '0' });
  });

  it('creates one transfer and 49 conflicts for fifty different requests at once', async () => {
    const body = { ...base, ref_id: 'fifty different' };
    await expectOneOfFiftyDifferent(service, alice, PATH, body, (index) => `${index + 1}`);
  });

  it('compares the meaning of requests, not their notation', async () => {
    const first = await send({ ref_id: 'meant', amount: '12.50', metadata: { a: '1', b: '2' } });
    const second = await send({ metadata: { b: '2', a: '1' }, ref_id: 'meant' });
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.body).toEqual(first.body);
    const other = await send({ ref_id: 'meant', recipient_metadata: { a: '1' } });
    expect(expectProblem(other, 409, 'already-exists')).toEqual({
      existing: first.body,
      differs: ['metadata', 'recipient_metadata'],
    });
  });

  it('is not used up by a refused request', async () => {
    const own = await service.createProfile(alice);
    const body = { from_profile_id: own, ref_id: 'once funds are there' };
    expectProblem(await refused(body), 403, 'insufficient-funds');
    await alice.call('POST', `/v2/sandbox/profiles/${own}/deposit`, { asset: 'USD', amount: '25' });
    const answer = await send(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  it('is shared by platform and internal transfers', async () => {
    const own = await service.createProfile(alice);
    const body = { ...base, to_profile_id: own, ref_id: 'one space' };
    const first = await alice.call('POST', PATH, body);
    const answer = await alice.call('POST', INTERNAL, body);
    expect(expectProblem(answer, 409, 'already-exists')).toEqual({
      existing: first.body,
      differs: ['operation'],
    });
  });
});

describe('an internal transfer', () => {
  it('moves value between two profiles of one customer', async () => {
    const own = await service.createProfile(alice);
    const answer = await alice.call('POST', INTERNAL, { ...base, to_profile_id: own });
    expect(answer.body).toMatchObject({ type: 'INTERNAL_TRANSFER_DEBIT', status: 'COMPLETED', fee: '0' });
    expect(answer.body).not.toHaveProperty('auto_conversion');
    const { items } = (await alice.call('GET', `/v2/transfer/transfers?group_ids=${answer.body.group_id}`))
      .body;
    expect(items.map((item: { type: string }) => item.type).sort()).toEqual([
      'INTERNAL_TRANSFER_CREDIT',
      'INTERNAL_TRANSFER_DEBIT',
    ]);
  });

  it('never reaches another customer', async () => {
    const answer = await expectNothingWritten(service, () => alice.call('POST', INTERNAL, base));
    expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'profile', id: to });
  });

  it('refuses malformed requests', async () => {
    await expectCommonRefusals(service, INTERNAL, 'transfer:write_internal_transfer', base);
  });
});

it('refuses malformed requests', async () => {
  await expectCommonRefusals(service, PATH, 'transfer:write_platform_transfer', base);
});
