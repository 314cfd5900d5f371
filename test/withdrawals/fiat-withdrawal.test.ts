import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FiatKind } from '../../src/fiat-accounts/fiat-account.ts';
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
  createFiatAccount,
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

const PATH = '/v2/transfer/fiat-withdrawals';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let profile: string;
let wire: string;
let base: Record<string, unknown>;

beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  profile = await service.createProfile(alice, { USD: '1000000' });
  wire = await createFiatAccount(service, alice, 'wire');
  base = { asset: 'USD', fiat_account_id: wire, profile_id: profile, amount: '100' };
});
afterAll(() => service.stop());

const withdraw = (changes: object = {}): Promise<Answer> => alice.call('POST', PATH, { ...base, ...changes });
const refused = (changes: object): Promise<Answer> => expectNothingWritten(service, () => withdraw(changes));

it('refuses a memo with a line break, which could end a field of a message to the bank', async () => {
  expectInvalid(await refused({ memo: 'Invoice\n:59:/666' }), '/memo');
});

describe('an accepted request', () => {
  it('answers with the whole transfer, holds its total and appends its event', async () => {
    const own = await service.createProfile(alice, { USD: '500' });
    const identity = await createIdentity(service, alice);
    const account = await createAccount(service, alice, identity);
    const answer = await withdraw({
      profile_id: own,
      ref_id: 'whole',
      amount: '100.50',
      identity_id: identity,
      account_id: account,
      metadata: { order: '7' },
      memo: 'Invoice 7',
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      customer_id: alice.id,
      profile_id: own,
      amount: '100.5',
      total: '120.5',
      fee: '20',
      asset: 'USD',
      balance_asset: 'USD',
      direction: 'DEBIT',
      type: 'WIRE_WITHDRAWAL',
      status: 'PENDING',
      created_at: expect.stringMatching(/Z$/),
      updated_at: answer.body.created_at,
      identity_id: identity,
      account_id: account,
      ref_id: 'whole',
      metadata: { order: '7' },
      memo: 'Invoice 7',
      fiat_account_id: wire,
      secondary_status: { name: 'QUEUED', detail: expect.any(String) },
    });
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '379.5', held: '120.5' });
    const read = await alice.call('GET', `/v2/transfer/transfers/${answer.body.id}`);
    expect(read.body).toEqual(answer.body);
    expect(await eventsOf(service.database, answer.body.id)).toEqual([
      { customer_id: alice.id, type: 'transfer.wire_withdrawal.pending', resource: answer.body },
    ]);
  });

  it('takes the fee out of a total', async () => {
    const answer = await withdraw({ amount: undefined, total: '20.01' });
    expect(answer.body).toMatchObject({ amount: '0.01', fee: '20', total: '20.01' });
  });

  const kinds: [FiatKind, string, string, number][] = [
    ['wire', 'WIRE_WITHDRAWAL', '20', 100],
    ['cubix', 'CUBIX_WITHDRAWAL', '0', 40],
    ['bank_network_2', 'BANK_WITHDRAWAL', '0', 100],
    ['bank_network_3', 'BANK_WITHDRAWAL', '0', 140],
    ['cbit', 'CBIT_WITHDRAWAL', '0', 500],
  ];
  it.each(kinds)(
    'is paid over %s as %s with a fee of %s and a memo of at most %i characters',
    async (...row) => {
      const [kind, type, fee, memoLengthMax] = row;
      const account = await createFiatAccount(service, alice, kind);
      const longest = '🚢'.repeat(memoLengthMax);
      const answer = await withdraw({ fiat_account_id: account, memo: longest });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ type, fee, memo: longest, total: String(100 + Number(fee)) });
      expectInvalid(await refused({ fiat_account_id: account, memo: `${longest}x` }), '/memo');
    },
  );

  it('waits for the approval of a fiat account that is still pending, with its total held', async () => {
    const own = await service.createProfile(alice, { USD: '120' });
    const pending = await createFiatAccount(service, alice, 'wire', 'PENDING');
    const answer = await withdraw({ profile_id: own, fiat_account_id: pending });
    expect(answer.body).toMatchObject({
      status: 'PENDING',
      secondary_status: {
        name: 'AWAITING_FIAT_ACCOUNT_APPROVAL',
        detail: expect.stringContaining(pending),
      },
    });
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '0', held: '120' });
  });
});

describe('fields', () => {
  it.each(['asset', 'fiat_account_id', 'profile_id'])('%s is required', async (field) => {
    expectInvalid(await refused({ [field]: undefined }), `/${field}`);
  });

  const texts = ['asset', 'fiat_account_id', 'profile_id', 'identity_id', 'account_id', 'memo', 'ref_id'];
  it.each(texts)('%s must be text', async (field) => {
    for (const value of NOT_TEXT) expectInvalid(await refused({ [field]: value }), `/${field}`);
  });

  it.each(['fiat_account_id', 'profile_id', 'identity_id', 'account_id'])(
    '%s must be an id',
    async (field) => {
      for (const value of ['', 'x', newId().toUpperCase(), `${newId()} `]) {
        expectInvalid(await refused({ [field]: value }), `/${field}`);
      }
    },
  );

  it('accepts USD only', async () => {
    for (const asset of ['BTC', 'PUSD', 'usd', 'EUR', '', 'US DOLLAR']) {
      expectInvalid(await refused({ asset }), '/asset');
    }
  });

  it.each(BAD_AMOUNTS)('%s is neither a valid amount nor a valid total', async (json) => {
    const send = (body: object, field: string) =>
      expectNothingWritten(service, () => alice.call('POST', PATH, rawBody(body, field, json)));
    expectNamed(await send(base, 'amount'), '/amount');
    expectNamed(await send({ ...base, amount: undefined }, 'total'), '/total');
  });

  it('never rounds: more decimals than USD has are refused, and the allowed number is named', async () => {
    const answer = await refused({ amount: '1.001' });
    expect(expectProblem(answer, 400, 'exceeds-precision')).toMatchObject({ asset: 'USD', max_decimals: 2 });
    const total = await refused({ amount: undefined, total: '21.001' });
    expect(expectProblem(total, 400, 'exceeds-precision').errors[0].pointer).toBe('/total');
  });

  it('requires exactly one of amount and total', async () => {
    expectInvalid(await refused({ total: '120' }), '/amount', '/total');
    expectInvalid(await refused({ amount: undefined }), '/amount', '/total');
  });

  it('refuses a total that the fee consumes', async () => {
    for (const total of ['20', '19.99', '0.01']) {
      expectInvalid(await refused({ amount: undefined, total }), '/total');
    }
  });

  it('accepts a memo of at most 500 characters', async () => {
    const cbit = await createFiatAccount(service, alice, 'cbit');
    expectInvalid(await refused({ fiat_account_id: cbit, memo: '🚢'.repeat(501) }), '/memo');
    expect((await withdraw({ fiat_account_id: cbit, memo: '' })).body.memo).toBe('');
  });

  describeMetadata('metadata', withdraw, refused);
  describeRefIdShape(withdraw, refused);

  it('reports an unknown field together with all other errors', async () => {
    const body = { asset: 'USD', amount: 25, balance_asset: 'USD', memo: 5 };
    const answer = await expectNothingWritten(service, () => alice.call('POST', PATH, body));
    expectInvalid(answer, '/fiat_account_id', '/profile_id', '/amount', '/balance_asset', '/memo');
  });
});

describe('ownership', () => {
  it('answers 404 for an unknown profile and for that of another customer', async () => {
    for (const id of [newId(), await service.createProfile(bob, { USD: '500' })]) {
      const meta = expectProblem(await refused({ profile_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'profile', id });
    }
  });

  it('answers 404 for an unknown fiat account and for that of another customer', async () => {
    for (const id of [newId(), await createFiatAccount(service, bob, 'wire')]) {
      const meta = expectProblem(await refused({ fiat_account_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'fiat account', id });
    }
  });

  it('refuses a rejected or deleted fiat account', async () => {
    const rejected = await createFiatAccount(service, alice, 'wire', 'REJECTED');
    const deleted = await createFiatAccount(service, alice, 'wire', 'APPROVED', 1n);
    for (const id of [rejected, deleted]) {
      expectInvalid(await refused({ fiat_account_id: id }), '/fiat_account_id');
    }
  });

  it('refuses a disabled profile', async () => {
    const own = await service.createProfile(alice, { USD: '500' });
    await disableProfile(service, own);
    expect(expectProblem(await refused({ profile_id: own }), 403, 'forbidden')).toEqual({ profile_id: own });
  });

  it('checks the identity and the account for which it is made', async () => {
    const identity = await createIdentity(service, alice);
    const account = await createAccount(service, alice, identity);
    const other = await createIdentity(service, alice);
    const disabled = await createIdentity(service, alice, 'DISABLED');
    const foreign = await createIdentity(service, bob);
    const foreignAccount = await createAccount(service, bob, foreign);
    expect((await withdraw({ identity_id: identity })).status).toBe(200);
    expect((await withdraw({ account_id: account })).status).toBe(200);
    expectProblem(await refused({ identity_id: foreign }), 404, 'not-found');
    expectProblem(await refused({ identity_id: newId() }), 404, 'not-found');
    expectProblem(await refused({ account_id: foreignAccount }), 404, 'not-found');
    expectProblem(await refused({ identity_id: disabled }), 403, 'forbidden');
    expectInvalid(await refused({ identity_id: other, account_id: account }), '/account_id');
  });

  it('a third-party integration must name the end user', async () => {
    const carol = await service.createCustomer({ integration: 'THIRD_PARTY' });
    const identity = await createIdentity(service, carol);
    const body = {
      ...base,
      profile_id: await service.createProfile(carol, { USD: '500' }),
      fiat_account_id: await createFiatAccount(service, carol, 'wire'),
    };
    expectInvalid(
      await expectNothingWritten(service, () => carol.call('POST', PATH, body)),
      '/identity_id',
      '/account_id',
    );
    const actor = { identity_id: identity, account_id: await createAccount(service, carol, identity) };
    expect((await carol.call('POST', PATH, { ...body, ...actor })).body).toMatchObject(actor);
  });
});

describe('funds', () => {
  it('must cover the amount and the fee', async () => {
    const own = await service.createProfile(alice, { USD: '119.99' });
    const meta = expectProblem(await refused({ profile_id: own }), 403, 'insufficient-funds');
    expect(meta).toEqual({ profile_id: own, asset: 'USD', available: '119.99', needed: '120' });
  });

  it('that are held cannot be spent again', async () => {
    const own = await service.createProfile(alice, { USD: '200' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => withdraw({ profile_id: own })));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 403)).toHaveLength(9);
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '80', held: '120' });
  });

  it('can be larger than a double holds', async () => {
    const own = await service.createProfile(alice, { USD: '99999999999999999999.99' });
    const answer = await withdraw({ profile_id: own, amount: '12345678901234567890.12' });
    expect(answer.body).toMatchObject({
      amount: '12345678901234567890.12',
      total: '12345678901234567910.12',
    });
    const most = await refused({ profile_id: own, amount: '99999999999999999999.99' });
    expect(expectProblem(most, 403, 'insufficient-funds').needed).toBe('100000000000000000019.99');
  });
});

describe('ref_id', () => {
  it('creates one withdrawal for fifty equal requests at once', async () => {
    const own = await service.createProfile(alice, { USD: '1000' });
    await expectOneOfFifty(service, alice, PATH, { ...base, profile_id: own, ref_id: 'fifty' });
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '880', held: '120' });
  });

  it('creates one withdrawal and 49 conflicts for fifty different requests at once', async () => {
    const body = { ...base, ref_id: 'fifty different' };
    await expectOneOfFiftyDifferent(service, alice, PATH, body, (index) => `${index + 1}`);
  });

  it('compares the meaning of requests, not their notation', async () => {
    const first = await withdraw({ ref_id: 'meant', amount: '1', metadata: { a: '1', b: '2' } });
    const second = await withdraw({ metadata: { b: '2', a: '1' }, amount: '01.00', ref_id: 'meant' });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    const total = await withdraw({ ref_id: 'meant', amount: undefined, total: '21' });
    expect(expectProblem(total, 409, 'already-exists')).toEqual({
      existing: first.body,
      differs: ['amount', 'metadata', 'total'],
    });
  });

  it('still replays after the fiat account was deleted', async () => {
    const account = await createFiatAccount(service, alice, 'cubix');
    const body = { fiat_account_id: account, ref_id: 'before it was deleted' };
    const first = await withdraw(body);
    await service.database.query('update fiat_accounts set deleted_at_ns = 1 where id = $1', [account]);
    expect((await withdraw(body)).body).toEqual(first.body);
  });

  it('is not used up by a refused request', async () => {
    const own = await service.createProfile(alice);
    const body = { profile_id: own, ref_id: 'once funds are there', amount: '5' };
    expectProblem(await refused(body), 403, 'insufficient-funds');
    expectInvalid(await refused({ ...body, amount: '0' }), '/amount');
    await alice.call('POST', `/v2/sandbox/profiles/${own}/deposit`, { asset: 'USD', amount: '25' });
    const answer = await withdraw(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  it('is shared with the other transfer operations', async () => {
    const to = await service.createProfile(bob);
    const platform = {
      from_profile_id: profile,
      to_profile_id: to,
      amount: '1',
      asset: 'USD',
      ref_id: 'one space',
    };
    const first = await alice.call('POST', '/v2/transfer/platform', platform);
    const meta = expectProblem(await refused({ ref_id: 'one space' }), 409, 'already-exists');
    expect(meta.existing).toEqual(first.body);
    expect(meta.differs).toContain('operation');
  });

  it('belongs to its customer', async () => {
    await withdraw({ ref_id: 'mine' });
    const theirs = {
      ...base,
      profile_id: await service.createProfile(bob, { USD: '500' }),
      fiat_account_id: await createFiatAccount(service, bob, 'wire'),
      ref_id: 'mine',
    };
    const answer = await bob.call('POST', PATH, theirs);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });
});

it('refuses malformed requests', async () => {
  await expectCommonRefusals(service, PATH, 'transfer:write_fiat_withdrawal', base);
});
