import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  aba,
  changed,
  FIAT_ACCOUNTS,
  institution,
  kinds,
  NUMBER,
  person,
  request,
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

describe('refused with a 400, and nothing is written', () => {
  let before: Record<string, bigint>;
  beforeEach(async () => {
    before = await service.countRows();
  });
  afterEach(async () => {
    expect(await service.countRows()).toEqual(before);
  });

  const details = '/fiat_network_instructions/wire/routing_details';
  const required = [
    '/fiat_account_owner',
    '/fiat_network_instructions',
    '/fiat_account_owner/person_details/first_name',
    '/fiat_account_owner/person_details/last_name',
    '/fiat_network_instructions/wire/account_number',
    '/fiat_network_instructions/wire/routing_details',
    '/fiat_network_instructions/wire/fiat_account_owner_address',
    '/fiat_network_instructions/wire/fiat_account_owner_address/country',
    `${details}/routing_number_type`,
    `${details}/routing_number`,
    `${details}/bank_name`,
    `${details}/bank_address`,
    `${details}/bank_address/country`,
  ];
  it.each(required)('%s is required', async (pointer) => {
    expectInvalid(await create(changed(pointer, undefined)), pointer);
  });

  it('all missing fields are reported at once', async () => {
    expectInvalid(await create({}), '/fiat_account_owner', '/fiat_network_instructions');
  });

  const typed = [
    ...required,
    '/fiat_account_owner/person_details',
    '/fiat_network_instructions/wire',
    ...['address1', 'address2', 'city', 'province', 'zip_code'].map(
      (name) => `/fiat_network_instructions/wire/fiat_account_owner_address/${name}`,
    ),
    '/fiat_network_instructions/wire/intermediary_routing_details',
    '/ref_id',
    '/identity_id',
    '/account_id',
    '/metadata',
    '/metadata/note',
  ];
  it.each(typed)('%s of a wrong type is refused, never converted', async (pointer) => {
    for (const wrong of [null, 42, true, [], ['a']]) {
      const answer = await create(changed(pointer, wrong));
      const { errors } = expectProblem(answer, 400, 'invalid-request');
      expect(new Set(errors.map((error: { pointer: string }) => error.pointer))).toEqual(new Set([pointer]));
    }
  });

  it.each(Object.entries(kinds).slice(1))(
    'the fields of %s are required text',
    async (kind, instructions) => {
      const [field] = Object.keys(instructions);
      const pointer = `/fiat_network_instructions/${kind}/${field}`;
      for (const wrong of [undefined, null, 7, '', 'a b', '****6789']) {
        const { errors } = expectProblem(
          await create({
            ...request,
            fiat_network_instructions: { [kind]: wrong === undefined ? {} : { [field!]: wrong } },
          }),
          400,
          'invalid-request',
        );
        expect(new Set(errors.map((error: { pointer: string }) => error.pointer))).toEqual(
          new Set([pointer]),
        );
      }
    },
  );

  it('an institution needs its name', async () => {
    const name = '/fiat_account_owner/institution_details/name';
    expectInvalid(await create(changed('/fiat_account_owner', { institution_details: {} })), name);
    for (const wrong of [null, 7, '   ', 'a\nb']) {
      expectInvalid(
        await create(changed('/fiat_account_owner', { institution_details: { name: wrong } })),
        name,
      );
    }
  });

  it('both forms of owner at once, and neither', async () => {
    const both = changed('/fiat_account_owner', { ...person, ...institution });
    expectInvalid(await create(both), '/fiat_account_owner');
    expectInvalid(await create(changed('/fiat_account_owner', {})), '/fiat_account_owner');
  });

  it('two kinds of instructions at once, all of them, and none', async () => {
    for (const instructions of [{ wire, cubix: kinds.cubix }, kinds, {}]) {
      const answer = await create(changed('/fiat_network_instructions', instructions));
      expectInvalid(answer, '/fiat_network_instructions');
    }
  });

  it.each([
    ['ABA', '02100002'],
    ['ABA', '0210000211'],
    ['ABA', '02100002a'],
    ['ABA', '021 00021'],
    ['ABA', '-21000021'],
    ['ABA', '٠٢١٠٠٠٠٢١'],
    ['ABA', 'CHASUS33'],
    ['SWIFT', '021000021'],
    ['SWIFT', 'CHASUS3'],
    ['SWIFT', 'CHASUS33X'],
    ['SWIFT', 'CHASUS33XX'],
    ['SWIFT', 'chasus33'],
    ['SWIFT', 'CHAS1S33'],
    ['SWIFT', 'CHASUS3 '],
    ['SWIFT', 'CHASUS3É'],
  ])('an %s routing number of a wrong shape: %s', async (routing_number_type, routing_number) => {
    const broken = { ...aba, routing_number_type, routing_number };
    expectInvalid(await create(changed(details, broken)), `${details}/routing_number`);
    const between = '/fiat_network_instructions/wire/intermediary_routing_details';
    expectInvalid(await create(changed(between, broken)), `${between}/routing_number`);
  });

  it.each(['aba', 'IBAN', '', 'ACH'])('the routing number type "%s"', async (type) => {
    const pointer = `${details}/routing_number_type`;
    expectInvalid(await create(changed(pointer, type)), pointer);
  });

  it('an account number with blanks, a sign or a mask', async () => {
    const pointer = '/fiat_network_instructions/wire/account_number';
    for (const number of ['12 34', '-1234', '****6789', ' 1234', '12.34', '１２３４']) {
      expectInvalid(await create(changed(pointer, number)), pointer);
    }
  });

  it('names that are blank or have control characters', async () => {
    for (const name of ['', '  ', '\u00a0', 'a\nb', 'a\u0007']) {
      const { errors } = expectProblem(
        await create(changed('/fiat_account_owner/person_details/first_name', name)),
        400,
        'invalid-request',
      );
      expect(errors[0].pointer).toBe('/fiat_account_owner/person_details/first_name');
    }
  });

  it.each([
    '',
    '/fiat_account_owner',
    '/fiat_account_owner/person_details',
    '/fiat_network_instructions',
    '/fiat_network_instructions/wire',
    '/fiat_network_instructions/wire/fiat_account_owner_address',
    details,
    `${details}/bank_address`,
  ])('an unknown field in "%s"', async (pointer) => {
    expectInvalid(await create(changed(`${pointer}/nickname`, 'x')), `${pointer}/nickname`);
  });

  it('fields that only answers have', async () => {
    expectInvalid(
      await create({ ...request, id: newId(), status: 'APPROVED', created_at: '2026-01-01T00:00:00Z' }),
      '/id',
      '/status',
      '/created_at',
    );
  });

  it('ids that are not UUIDs in lower case', async () => {
    for (const id of ['', 'x', newId().toUpperCase(), `${newId()} `]) {
      const wrong = { ...request, identity_id: id, account_id: id };
      expectInvalid(await create(wrong), '/identity_id', '/account_id');
    }
  });

  it('a ref_id that is empty or not printable', async () => {
    for (const ref_id of ['', 'a\nb', '\u200b']) {
      expectProblem(await create({ ...request, ref_id }), 400, 'invalid-request');
    }
  });

  it('bodies that are not a JSON object', async () => {
    for (const body of ['', '{', '[]', 'null', '"text"', '7']) {
      const answer = await alice.call('POST', FIAT_ACCOUNTS, body, { 'content-type': 'application/json' });
      expectProblem(answer, 400, 'invalid-request');
    }
  });

  it('an unknown query parameter', async () => {
    expectInvalid(await alice.call('POST', `${FIAT_ACCOUNTS}?dry_run=true`, request), '/query/dry_run');
  });

  it('a third-party integration that does not name the end user', async () => {
    expectInvalid(await create(request, platform), '/identity_id', '/account_id');
    const identity_id = await createIdentity(service, platform);
    before = await service.countRows();
    expectInvalid(await create({ ...request, identity_id }, platform), '/account_id');
    const broken = { ...changed('/fiat_account_owner', {}), identity_id };
    expectInvalid(await create(broken, platform), '/account_id', '/fiat_account_owner');
  });

  it('an identity that neither owns the account nor is its member', async () => {
    const identity_id = await createIdentity(service, alice);
    const account_id = await createAccount(service, alice, await createIdentity(service, alice));
    before = await service.countRows();
    expectInvalid(await create({ ...request, identity_id, account_id }), '/account_id');
  });
});

describe('other refusals, which write nothing either', () => {
  async function expectRefusal(answer: () => Promise<Answer>, status: number, slug: string): Promise<any> {
    const before = await service.countRows();
    const meta = expectProblem(await answer(), status, slug);
    expect(await service.countRows()).toEqual(before);
    return meta;
  }

  it('401 without a token, or with a wrong one', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nonsense', 'Basic YTpi']) {
      const answer = () => alice.call('POST', FIAT_ACCOUNTS, request, { authorization });
      await expectRefusal(answer, 401, 'unauthenticated');
      expect((await answer()).headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it('403 when the token lacks the scope, before the body is validated', async () => {
    const reader = await service.createCustomer({ scopes: ['transfer:read_fiat_account'] });
    const meta = await expectRefusal(() => create({ nonsense: 1 }, reader), 403, 'insufficient-scope');
    expect(meta).toEqual({
      required: 'transfer:write_fiat_account',
      found: ['transfer:read_fiat_account'],
    });
  });

  it('403 for a disabled identity', async () => {
    const identity_id = await createIdentity(service, alice, 'DISABLED');
    const meta = await expectRefusal(() => create({ ...request, identity_id }), 403, 'forbidden');
    expect(meta).toEqual({ identity_id });
  });

  it("404 for an identity or account that is unknown or another customer's", async () => {
    const theirs = await createIdentity(service, bob);
    const their_account = await createAccount(service, bob, theirs);
    for (const id of [newId(), theirs]) {
      const meta = await expectRefusal(() => create({ ...request, identity_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'identity', id });
    }
    for (const id of [newId(), their_account]) {
      const meta = await expectRefusal(() => create({ ...request, account_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'account', id });
    }
  });

  it('405 for another method', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = () => alice.call(method, FIAT_ACCOUNTS, request);
      await expectRefusal(answer, 405, 'method-not-allowed');
      expect((await answer()).headers.get('allow')).toContain('POST');
    }
  });

  it('413 for a body of more than 256 KiB', async () => {
    const large = JSON.stringify({ ...request, metadata: { note: 'x'.repeat(256 * 1024) } });
    await expectRefusal(() => create(large), 413, 'payload-too-large');
  });

  it('415 for a body that is not sent as JSON', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded']) {
      const answer = () =>
        alice.call('POST', FIAT_ACCOUNTS, JSON.stringify(request), { 'content-type': type });
      await expectRefusal(answer, 415, 'unsupported-media-type');
    }
  });

  it('409 when the ref_id was used for another request, with the first record and what differs', async () => {
    const first = await create({ ...request, ref_id: 'conflict', metadata: { a: '1' } });
    const other = { ...changed('/fiat_network_instructions/wire/account_number', '999'), ref_id: 'conflict' };
    const meta = await expectRefusal(() => create(other), 409, 'already-exists');
    expect(meta.differs).toEqual(['fiat_network_instructions', 'metadata']);
    expect(meta.existing.id).toBe(first.body.id);
    expect(JSON.stringify(meta)).not.toContain(NUMBER);
  });
});
