import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFiatAccount } from '../../src/fiat-accounts/store.ts';
import { newId } from '../../src/kernel/id.ts';
import { eventsOf } from '../support/events.ts';
import {
  aba,
  changed,
  FIAT_ACCOUNTS,
  institution,
  kinds,
  person,
  request,
  swift,
  wire,
} from '../support/fiat-accounts.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { createAccount, createIdentity } from '../support/transfers.ts';

const UUID = /^[0-9a-f-]{36}$/;

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let platform: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  platform = await service.createCustomer({ integration: 'THIRD_PARTY' });
});
afterAll(() => service.stop());

const create = (body: unknown, customer = alice): Promise<Answer> =>
  customer.call('POST', FIAT_ACCOUNTS, body);

describe('an accepted account', () => {
  it('answers with the account, PENDING, with everything at the top level and the number masked', async () => {
    const identity_id = await createIdentity(service, alice);
    const account_id = await createAccount(service, alice, identity_id);
    const body = { ...request, ref_id: 'first', identity_id, account_id, metadata: { note: 'rent' } };
    const answer = await create(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(answer.body).toEqual({
      id: expect.stringMatching(UUID),
      fiat_account_owner: person,
      fiat_network_instructions: { wire: { ...wire, account_number: '****6789' } },
      status: 'PENDING',
      ref_id: 'first',
      identity_id,
      account_id,
      metadata: { note: 'rent' },
      created_at: expect.stringMatching(/Z$/),
      updated_at: answer.body.created_at,
    });
  });

  it('omits fields that were not given', async () => {
    const { body } = await create(request);
    expect(Object.keys(body).sort()).toEqual([
      'created_at',
      'fiat_account_owner',
      'fiat_network_instructions',
      'id',
      'status',
      'updated_at',
    ]);
  });

  it('stores the whole number for payments, sealed, and appends an event', async () => {
    const { body } = await create(request);
    const stored = await findFiatAccount(service.database, alice.id, body.id);
    expect(stored).toMatchObject({ kind: 'wire', fiatNetworkInstructions: { wire } });
    const [row] = await service.database.query<any>('select * from fiat_accounts where id = $1', [body.id]);
    expect(row.fiat_network_instructions).toMatch(/^sealed\./);
    expect(row.fiat_account_owner).toMatch(/^sealed\./);
    const [first] = await eventsOf(service.database, body.id);
    expect(first).toEqual({ customer_id: alice.id, type: 'fiat_account.pending', resource: body });
  });

  it.each(Object.entries(kinds))('accepts an account of the kind %s', async (kind, instructions) => {
    const answer = await create(changed('/fiat_network_instructions', { [kind]: instructions }));
    expect(answer.status).toBe(200);
    const out = answer.body.fiat_network_instructions;
    expect(Object.keys(out)).toEqual([kind]);
    expect(Object.keys(out[kind])).toEqual(Object.keys(instructions));
  });

  it('accepts an institution as the owner', async () => {
    const answer = await create(changed('/fiat_account_owner', institution));
    expect(answer.body).toMatchObject({ status: 'PENDING', fiat_account_owner: institution });
  });

  it('accepts a wire with only the required fields', async () => {
    const least = { country: 'US' };
    const routing = { ...aba, bank_address: least };
    const body = { account_number: '1', routing_details: routing, fiat_account_owner_address: least };
    const answer = await create(changed('/fiat_network_instructions', { wire: body }));
    expect(answer.status).toBe(200);
    expect(answer.body.fiat_network_instructions.wire).toEqual({ ...body, account_number: '****' });
  });

  it.each(['CHASUS33', 'CHASUS33XXX', '1ABCDE2FA00'])('takes the BIC %s', async (bic) => {
    const routing = { ...swift, routing_number: bic };
    const answer = await create(changed('/fiat_network_instructions/wire/routing_details', routing));
    expect(answer.body.fiat_network_instructions.wire.routing_details).toEqual(routing);
  });

  it('accepts an intermediary bank', async () => {
    const answer = await create(
      changed('/fiat_network_instructions/wire/intermediary_routing_details', swift),
    );
    expect(answer.body.fiat_network_instructions.wire.intermediary_routing_details).toEqual(swift);
  });
});

describe('limits', () => {
  const wireAt = '/fiat_network_instructions/wire';
  const pairs = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, 'value']));
  /** Characters are code points: each of these is two UTF-16 units. */
  const emoji = (count: number): string => '🙂'.repeat(count);

  /** The field, the longest text that is accepted, and one that is too long. */
  const texts: [string, (length: number) => string, number][] = [
    ['/fiat_account_owner/person_details/first_name', emoji, 140],
    ['/fiat_account_owner/person_details/last_name', emoji, 140],
    [`${wireAt}/routing_details/bank_name`, emoji, 140],
    ...['country', 'address1', 'address2', 'city', 'province'].flatMap((name): typeof texts => [
      [`${wireAt}/fiat_account_owner_address/${name}`, emoji, 140],
      [`${wireAt}/routing_details/bank_address/${name}`, emoji, 140],
    ]),
    [`${wireAt}/fiat_account_owner_address/zip_code`, emoji, 16],
    [`${wireAt}/account_number`, (length) => '1'.repeat(length), 34],
    ['/ref_id', emoji, 128],
    ['/metadata/note', emoji, 100],
  ];

  it.each(texts)('%s has a maximum length', async (pointer, text, max) => {
    expect((await create(changed(pointer, text(max)))).status).toBe(200);
    const before = await service.countRows();
    expectInvalid(await create(changed(pointer, text(max + 1))), pointer);
    expect(await service.countRows()).toEqual(before);
  });

  it('the name of an institution and accounts on bank networks have a maximum length', async () => {
    const named = (length: number) =>
      changed('/fiat_account_owner', { institution_details: { name: emoji(length) } });
    expect((await create(named(140))).status).toBe(200);
    expectInvalid(await create(named(141)), '/fiat_account_owner/institution_details/name');
    for (const [kind, field, max] of [
      ['cubix', 'account_id', 128],
      ['cbit', 'wallet_address', 128],
      ['bank_network_2', 'account_number', 34],
      ['bank_network_3', 'account_number', 34],
    ] as const) {
      const at = (length: number) =>
        changed('/fiat_network_instructions', { [kind]: { [field]: 'a'.repeat(length) } });
      expect((await create(at(max))).status).toBe(200);
      expectInvalid(await create(at(max + 1)), `/fiat_network_instructions/${kind}/${field}`);
    }
  });

  it('accepts six pairs of metadata with keys and values of 100 code points, and refuses a seventh', async () => {
    const full = { ...pairs(5), [emoji(100)]: emoji(100) };
    const answer = await create({ ...request, metadata: full });
    expect(answer.body.metadata).toEqual(full);
    const before = await service.countRows();
    expectInvalid(await create({ ...request, metadata: pairs(7) }), '/metadata');
    const long = expectProblem(
      await create({ ...request, metadata: { [emoji(101)]: 'value' } }),
      400,
      'invalid-request',
    );
    expect(new Set(long.errors.map((error: { pointer: string }) => error.pointer))).toEqual(
      new Set(['/metadata']),
    );
    expect(await service.countRows()).toEqual(before);
  });

  it('accepts empty metadata and an empty value', async () => {
    expect((await create({ ...request, metadata: {} })).body.metadata).toEqual({});
    expect((await create({ ...request, metadata: { note: '' } })).body.metadata).toEqual({ note: '' });
  });
});

describe('replays', () => {
  /** The owner's city is missing, so an operator has to review the account and it stays PENDING. */
  const waiting = changed('/fiat_network_instructions/wire/fiat_account_owner_address/city', undefined);

  it('an equal request gets the same record, in any order of its keys', async () => {
    const first = await create({ ...waiting, ref_id: 'again', metadata: { a: '1', b: '2' } });
    const before = await service.countRows();
    const replay = await create({
      metadata: { b: '2', a: '1' },
      ref_id: 'again',
      fiat_network_instructions: waiting.fiat_network_instructions,
      fiat_account_owner: waiting.fiat_account_owner,
    });
    expect(replay.status).toBe(200);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.body).toEqual(first.body);
    expect(await service.countRows()).toEqual(before);
  });

  it('a replay shows the current record: approved meanwhile, or deleted', async () => {
    const first = await create({ ...request, ref_id: 'moves on' });
    const approved = await create({ ...request, ref_id: 'moves on' });
    expect(approved.body).toEqual({
      ...first.body,
      status: 'APPROVED',
      updated_at: expect.any(String),
    });
    await alice.call('DELETE', `${FIAT_ACCOUNTS}/${first.body.id}`);
    const deleted = await create({ ...request, ref_id: 'moves on' });
    expect(deleted.body).toMatchObject({ id: first.body.id, deleted_at: expect.any(String) });
  });

  it('without a ref_id each request creates an account', async () => {
    const [one, two] = [await create(request), await create(request)];
    expect(one.body.id).not.toBe(two.body.id);
  });

  it('a ref_id belongs to one customer and one kind of resource', async () => {
    const profile = await service.createProfile(alice, { USD: '1' });
    const transfer = await alice.call('POST', '/v2/transfer/platform', {
      from_profile_id: profile,
      to_profile_id: await service.createProfile(alice),
      amount: '1',
      asset: 'USD',
      ref_id: 'shared',
    });
    expect(transfer.status).toBe(200);
    const mine = await create({ ...request, ref_id: 'shared' });
    const theirs = await create({ ...request, ref_id: 'shared' }, bob);
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    expect(mine.body.id).not.toBe(theirs.body.id);
  });

  it('a refused request does not use up its ref_id', async () => {
    const identity_id = await createIdentity(service, alice, 'DISABLED');
    const body = { ...waiting, ref_id: 'later', identity_id };
    expectProblem(await create(body), 403, 'forbidden');
    await service.database.query(`update identities set status = 'APPROVED' where id = $1`, [identity_id]);
    const answer = await create(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  it('50 equal requests at once make one account and get 50 equal answers', async () => {
    const before = await service.countRows();
    const body = { ...waiting, ref_id: 'rush' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(body)));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(answers[0]!.body);
    }
    const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(49);
    expect(await service.countRows()).toEqual({
      ...before,
      fiat_accounts: before.fiat_accounts! + 1n,
      idempotency_keys: before.idempotency_keys! + 1n,
      events: before.events! + 1n,
    });
  });

  it('of 50 different requests with one ref_id at once, one wins and the others get a conflict', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        create({ ...waiting, ref_id: 'race', metadata: { index: `${index}` } }),
      ),
    );
    const winners = answers.filter((answer) => answer.status === 200);
    expect(winners).toHaveLength(1);
    for (const answer of answers.filter((one) => one.status !== 200)) {
      const meta = expectProblem(answer, 409, 'already-exists');
      expect(meta).toEqual({ existing: winners[0]!.body, differs: ['metadata'] });
    }
  });
});

it('a third-party integration registers an account for an identity that is its owner or a member', async () => {
  const identity_id = await createIdentity(service, platform);
  const account_id = await createAccount(service, platform, identity_id);
  const owner = await create({ ...request, identity_id, account_id }, platform);
  expect(owner.body).toMatchObject({ identity_id, account_id, status: 'PENDING' });
  const member = await createIdentity(service, platform);
  await service.database.query(
    `insert into account_members (id, customer_id, account_id, identity_id, roles, created_at_ns)
     values ($1, $2, $3, $4, '{AUTHORIZED_USER}', 0)`,
    [newId(), platform.id, account_id, member],
  );
  expect((await create({ ...request, identity_id: member, account_id }, platform)).status).toBe(200);
});
