import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const IDENTITIES = '/v2/identity/identities';
const ACCOUNTS = '/v2/identity/accounts';

let service: TestService;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

const newIdentity = async (body: object = { institution_details: { name: 'Harbour' } }): Promise<any> =>
  (await alice.call('POST', IDENTITIES, body)).body;
const newAccount = (account: object) => alice.call('POST', ACCOUNTS, { account });

describe('updating an identity', () => {
  it('changes the given fields and keeps the others', async () => {
    const before = await newIdentity({
      person_details: { first_name: 'Ada', last_name: 'Byron' },
      metadata: { tier: '1' },
    });
    const path = `${IDENTITIES}/${before.id}`;
    const person_details = { first_name: 'Ada', last_name: 'King' };
    const { status, body } = await alice.call('PUT', path, { person_details });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, person_details, updated_at: expect.any(String) });
    expect((await alice.call('PUT', path, { person_details })).body).toEqual(body);
    expect((await alice.call('PUT', path, { metadata: {} })).body).toMatchObject({
      person_details,
      metadata: {},
    });
    const actions = async (): Promise<string[]> =>
      (await alice.call('GET', `/v2/audit-log?resource_ids=${before.id}`)).body.items.map(
        (one: any) => one.action,
      );
    await expect.poll(actions).toEqual(['identity.updated', 'identity.updated', 'identity.created']);
  });

  it('does not make an institution of a person', async () => {
    const { id } = await newIdentity({ person_details: { first_name: 'Ada', last_name: 'Byron' } });
    const path = `${IDENTITIES}/${id}`;
    expectInvalid(
      await alice.call('PUT', path, { institution_details: { name: 'x' } }),
      '/institution_details',
    );
    expectInvalid(await alice.call('PUT', path, {}), '');
    expectInvalid(await alice.call('PUT', path, { status: 'DISABLED' }), '/status');
  });

  it('stores the name sealed', async () => {
    const { id } = await newIdentity();
    await alice.call('PUT', `${IDENTITIES}/${id}`, { institution_details: { name: 'Lighthouse' } });
    const [row] = await service.database.query<{ text: string }>(
      'select institution_details::text as text from identities where id = $1',
      [id],
    );
    expect(row!.text).not.toContain('Lighthouse');
  });
});

describe('updating an account', () => {
  it('changes the given fields and keeps the owner and the members', async () => {
    const owner = await newIdentity();
    const members = [{ identity_id: owner.id, roles: ['BENEFICIAL_OWNER'] }];
    const before = (await newAccount({ identity_id: owner.id, members })).body;
    const path = `${ACCOUNTS}/${before.id}`;
    const { body } = await alice.call('PUT', path, { type: 'CUSTODY', description: 'Savings' });
    const updated_at = expect.any(String);
    expect(body).toEqual({ ...before, type: 'CUSTODY', description: 'Savings', updated_at });
    expect(body.updated_at > before.updated_at).toBe(true);
    expect((await alice.call('GET', path)).body).toEqual(body);
    expectInvalid(await alice.call('PUT', path, { identity_id: owner.id }), '/identity_id');
    expectInvalid(await alice.call('PUT', path, { type: 'PIGGY_BANK' }), '/type');
  });
});

describe('an account with members', () => {
  it('is created with all of them, in their order, each with an event', async () => {
    const [owner, one, other] = [await newIdentity(), await newIdentity(), await newIdentity()];
    const members = [
      { identity_id: other.id, roles: ['FINANCIAL_ADVISOR', 'AUTHORIZED_USER'] },
      { identity_id: one.id, roles: ['AUTHORIZED_USER'] },
    ];
    const { body } = await newAccount({ identity_id: owner.id, members });
    expect(body.members).toEqual(members.map((member) => ({ ...member, id: expect.any(String) })));
    expect((await alice.call('GET', `${ACCOUNTS}/${body.id}`)).body).toEqual(body);
    for (const { id } of body.members) {
      const events = await alice.call('GET', `/v2/events?resource_ids=${id}&wait_seconds=20`);
      expect(events.body.items).toMatchObject([
        { type: 'account_member.added', data: { account_id: body.id } },
      ]);
    }
  });

  it('is created once per ref_id; the order of roles does not matter, other members do', async () => {
    const [owner, one] = [await newIdentity(), await newIdentity()];
    const account = (roles: string[]) => ({
      identity_id: owner.id,
      ref_id: 'with members',
      members: [{ identity_id: one.id, roles }],
    });
    const first = await newAccount(account(['AUTHORIZED_USER', 'FINANCIAL_ADVISOR']));
    const again = await newAccount(account(['FINANCIAL_ADVISOR', 'AUTHORIZED_USER']));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const different = await newAccount(account(['AUTHORIZED_USER']));
    expect(expectProblem(different, 409, 'already-exists').differs).toEqual(['members']);
  });

  it('is not created if one of them is unknown, or is there twice', async () => {
    const owner = await newIdentity();
    const [identity_id, roles] = [newId(), ['AUTHORIZED_USER']];
    const before = await service.countRows();
    const unknown = await newAccount({ identity_id: owner.id, members: [{ identity_id, roles }] });
    expect(expectProblem(unknown, 404, 'not-found')).toEqual({ resource: 'identity', id: identity_id });
    const member = { identity_id: owner.id, roles };
    const twice = await newAccount({ identity_id: owner.id, members: [member, member] });
    expectInvalid(twice, '/account/members/1/identity_id');
    expect(await service.countRows()).toEqual(before);
  });
});
