import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/database/database.ts';
import { findMember, memberPlaces } from '../../src/identity/member-store.ts';
import { addMembersCommand, removeMemberCommand } from '../../src/identity/members.ts';
import { accountTable, identityTable } from '../../src/identity/store.ts';
import { newId } from '../../src/kernel/id.ts';
import { pidOf, untilBlockedBy } from '../support/barriers.ts';
import { type WrittenEvent, eventsOf as writtenEvents } from '../support/events.ts';
import { createTestWritePath } from '../support/ledger.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/identity/account-members';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let account: string;
let identity: string;

beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
});
afterAll(() => service.stop());
beforeEach(async () => {
  account = await createAccount(alice);
  identity = await createIdentity(alice);
});

/** The id of what was created. */
async function create(customer: TestCustomer, path: string, body: object): Promise<string> {
  const answer = await customer.call('POST', path, body);
  expect(answer.status).toBe(200);
  return answer.body.id;
}

const createIdentity = (customer: TestCustomer): Promise<string> =>
  create(customer, '/v2/identity/identities', { institution_details: { name: 'Grace & Co' } });

async function createAccount(customer: TestCustomer): Promise<string> {
  const identityId = await createIdentity(customer);
  return create(customer, '/v2/identity/accounts', { account: { identity_id: identityId } });
}

const add = (...members: object[]): Promise<Answer> =>
  alice.call('POST', PATH, { account_id: account, members });

const remove = (id: string): Promise<Answer> => alice.call('DELETE', `${PATH}/${id}`);

const advisor = (identityId: string): object => ({ identity_id: identityId, roles: ['FINANCIAL_ADVISOR'] });

const membersOf = async (accountId: string): Promise<any[]> =>
  (await alice.call('GET', `/v2/identity/accounts/${accountId}`)).body.members;

const eventsOf = (memberId: string): Promise<WrittenEvent[]> => writtenEvents(service.database, memberId);

/** The answer, after checking that nothing was written. */
async function refused(request: () => Promise<Answer>): Promise<Answer> {
  const before = await service.countRows();
  const answer = await request();
  expect(await service.countRows()).toEqual(before);
  return answer;
}

/** Another node is inside a transaction that blocks `request`; then it commits. */
async function whileOtherNode(
  work: (tx: Transaction) => Promise<unknown>,
  request: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Promise<Answer>;
  await service.database.transaction(async (tx) => {
    await work(tx);
    answer = request();
    answer.catch(() => undefined);
    await untilBlockedBy(service.database, await pidOf(tx));
  });
  return answer!;
}

const insertMember = (tx: Transaction, id: string, role: string): Promise<unknown> =>
  tx.query(
    `insert into account_members (id, customer_id, account_id, identity_id, roles, created_at_ns)
     values ($1, $2, $3, $4, array[$5], 1)`,
    [id, alice.id, account, identity, role],
  );

describe('adding members', () => {
  it('answers with the members in request order, each with an id, and appends an event for each', async () => {
    const second = await createIdentity(alice);
    const answer = await add(
      { identity_id: second, roles: ['FINANCIAL_ADVISOR', 'AUTHORIZED_USER'] },
      { identity_id: identity, roles: ['BENEFICIAL_OWNER'] },
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(answer.body).toEqual({
      account_id: account,
      members: [
        { id: expect.any(String), identity_id: second, roles: ['FINANCIAL_ADVISOR', 'AUTHORIZED_USER'] },
        { id: expect.any(String), identity_id: identity, roles: ['BENEFICIAL_OWNER'] },
      ],
    });
    expect(await membersOf(account)).toEqual(answer.body.members);
    for (const member of answer.body.members) {
      const resource = { ...member, account_id: account };
      const type = 'account_member.added';
      expect(await eventsOf(member.id)).toEqual([{ type, customer_id: alice.id, resource }]);
    }
  });

  it('accepts the owner of the account, and an identity on several accounts', async () => {
    const { identity_id: owner } = (await alice.call('GET', `/v2/identity/accounts/${account}`)).body;
    for (const one of [account, await createAccount(alice)]) {
      account = one;
      expect((await add(advisor(owner), advisor(identity))).status).toBe(200);
    }
  });

  it('accepts every role, and all of them together', async () => {
    const roles = ['BENEFICIAL_OWNER', 'AUTHORIZED_USER', 'FINANCIAL_ADVISOR'];
    for (const role of roles) {
      expect((await add({ identity_id: await createIdentity(alice), roles: [role] })).status).toBe(200);
    }
    expect((await add({ identity_id: identity, roles })).body.members[0].roles).toEqual(roles);
  });

  it('accepts 100 members and refuses 101', async () => {
    const identities = await Promise.all(Array.from({ length: 101 }, () => createIdentity(alice)));
    expectInvalid(await refused(() => add(...identities.map(advisor))), '/members');
    const answer = await add(...identities.slice(1).map(advisor));
    expect(answer.status).toBe(200);
    expect(answer.body.members.map((member: any) => member.identity_id)).toEqual(identities.slice(1));
    expect(await membersOf(account)).toEqual(answer.body.members);
  });
});

describe('adding members again', () => {
  it('returns the existing member for the same roles, in any order', async () => {
    const first = await add({ identity_id: identity, roles: ['AUTHORIZED_USER', 'FINANCIAL_ADVISOR'] });
    const turned = { identity_id: identity, roles: ['FINANCIAL_ADVISOR', 'AUTHORIZED_USER'] };
    const again = await refused(() => add(turned));
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('adds the new members and returns the existing ones', async () => {
    const [existing] = (await add(advisor(identity))).body.members;
    const second = await createIdentity(alice);
    const answer = await add(advisor(second), advisor(identity));
    expect(answer.body.members).toEqual([expect.objectContaining({ identity_id: second }), existing]);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(await eventsOf(existing.id)).toHaveLength(1);
  });

  it('refuses other roles, shows the existing member, and adds nobody', async () => {
    const [existing] = (await add(advisor(identity))).body.members;
    const second = await createIdentity(alice);
    for (const roles of [['AUTHORIZED_USER'], ['FINANCIAL_ADVISOR', 'AUTHORIZED_USER']]) {
      const answer = await refused(() => add(advisor(second), { identity_id: identity, roles }));
      expect(expectProblem(answer, 409, 'already-exists')).toEqual({ existing, differs: ['roles'] });
    }
  });

  it('gives one member and twenty equal answers to twenty requests at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => add(advisor(identity))));
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect(await membersOf(account)).toEqual(answers[0]!.body.members);
    expect(await eventsOf(answers[0]!.body.members[0].id)).toHaveLength(1);
  });

  it('returns the member that another node adds at the same moment', async () => {
    const id = newId();
    const answer = await whileOtherNode(
      (tx) => insertMember(tx, id, 'FINANCIAL_ADVISOR'),
      () => add(advisor(identity)),
    );
    expect(answer.status).toBe(200);
    expect(answer.body.members).toEqual([{ id, identity_id: identity, roles: ['FINANCIAL_ADVISOR'] }]);
    expect(await membersOf(account)).toEqual(answer.body.members);
  });

  it('is refused when another node adds the identity with other roles at the same moment', async () => {
    const second = await createIdentity(alice);
    const answer = await whileOtherNode(
      (tx) => insertMember(tx, newId(), 'BENEFICIAL_OWNER'),
      () => add(advisor(second), advisor(identity)),
    );
    expect(expectProblem(answer, 409, 'already-exists').differs).toEqual(['roles']);
    expect(await membersOf(account)).toEqual([expect.objectContaining({ roles: ['BENEFICIAL_OWNER'] })]);
  });
});

describe('validation', () => {
  // Changes to a valid request; undefined removes the field.
  const cases: [string, object, string[]][] = [
    ['without account_id', { account_id: undefined }, ['/account_id']],
    ['without members', { members: undefined }, ['/members']],
    ['with nothing in it', { account_id: undefined, members: undefined }, ['/account_id', '/members']],
    ['with a number as account_id', { account_id: 1 }, ['/account_id']],
    ['with null as account_id', { account_id: null }, ['/account_id']],
    ['with a malformed account_id', { account_id: 'x' }, ['/account_id']],
    ['with an upper case account_id', { account_id: newId().toUpperCase() }, ['/account_id']],
    ['with an object as members', { members: {} }, ['/members']],
    ['with null as members', { members: null }, ['/members']],
    ['with no member', { members: [] }, ['/members']],
    ['with null as member', { members: [null] }, ['/members/0']],
    ['with an unknown field', { ref_id: 'x' }, ['/ref_id']],
  ];
  it.each(cases)('refuses a request %s', async (_title, change, pointers) => {
    const body = { account_id: account, members: [advisor(identity)], ...change };
    expectInvalid(await refused(() => alice.call('POST', PATH, body)), ...pointers);
  });

  const memberCases: [string, object, string][] = [
    ['without identity_id', { identity_id: undefined }, 'identity_id'],
    ['without roles', { roles: undefined }, 'roles'],
    ['with a number as identity_id', { identity_id: 7 }, 'identity_id'],
    ['with null as identity_id', { identity_id: null }, 'identity_id'],
    ['with a malformed identity_id', { identity_id: 'x' }, 'identity_id'],
    ['with text as roles', { roles: 'FINANCIAL_ADVISOR' }, 'roles'],
    ['with null as roles', { roles: null }, 'roles'],
    ['with no role', { roles: [] }, 'roles'],
    ['with an unknown role', { roles: ['OWNER'] }, 'roles/0'],
    ['with null as role', { roles: [null] }, 'roles/0'],
    ['with a number as role', { roles: [1] }, 'roles/0'],
    ['with the same role twice', { roles: ['AUTHORIZED_USER', 'AUTHORIZED_USER'] }, 'roles'],
    ['with an id', { id: newId() }, 'id'],
    ['with an unknown field', { role: 'AUTHORIZED_USER' }, 'role'],
  ];
  it.each(memberCases)(
    'refuses a member %s, together with the valid one beside it',
    async (_title, change, field) => {
      const second = await createIdentity(alice);
      const answer = await refused(() => add(advisor(second), { ...advisor(identity), ...change }));
      expectInvalid(answer, `/members/1/${field}`);
    },
  );

  it('reports all errors at once', async () => {
    const answer = await refused(() => add({ identity_id: 'x', roles: [] }, { id: newId() }));
    expectInvalid(
      answer,
      '/members/0/identity_id',
      '/members/0/roles',
      '/members/1/id',
      '/members/1/identity_id',
      '/members/1/roles',
    );
  });

  it('refuses a body that is not a JSON object, and an unknown query parameter', async () => {
    for (const text of ['{"account_id":', '[]', 'null', '"text"'])
      expectInvalid(await refused(() => alice.call('POST', PATH, text)), '');
    const body = { account_id: account, members: [advisor(identity)] };
    expectInvalid(await refused(() => alice.call('POST', `${PATH}?dry_run=true`, body)), '/query/dry_run');
  });

  it('refuses bodies that are too large or of another type', async () => {
    const large = { account_id: account, members: [], padding: 'x'.repeat(256 * 1024) };
    expectProblem(await refused(() => alice.call('POST', PATH, large)), 413, 'payload-too-large');
    const body = JSON.stringify({ account_id: account, members: [advisor(identity)] });
    const answer = await refused(() => alice.call('POST', PATH, body, { 'content-type': 'text/plain' }));
    expectProblem(answer, 415, 'unsupported-media-type');
  });
});

describe('who may add', () => {
  const request = (): object => ({ account_id: account, members: [advisor(identity)] });

  it('refuses a request without a valid token', async () => {
    const response = await fetch(service.url + PATH, { method: 'POST' });
    const body = await response.json();
    expectProblem({ status: response.status, headers: response.headers, body }, 401, 'unauthenticated');
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    const wrong = { authorization: 'Bearer nonsense' };
    const answer = await refused(() => alice.call('POST', PATH, request(), wrong));
    expectProblem(answer, 401, 'unauthenticated');
  });

  it('refuses a token without the scope before it validates the request', async () => {
    const reader = await service.createCustomer({ scopes: ['identity:read_account'] });
    for (const attempt of [
      () => reader.call('POST', PATH, { wrong: true }),
      () => reader.call('DELETE', `${PATH}/${newId()}`),
    ]) {
      const meta = expectProblem(await refused(attempt), 403, 'insufficient-scope');
      expect(meta).toEqual({ required: 'identity:write_account', found: ['identity:read_account'] });
    }
  });

  it('answers 404 for unknown accounts and identities, and for those of other customers', async () => {
    const theirAccount = await createAccount(bob);
    const theirIdentity = await createIdentity(bob);
    for (const id of [theirAccount, newId()]) {
      const body = { account_id: id, members: [advisor(identity)] };
      const meta = expectProblem(await refused(() => alice.call('POST', PATH, body)), 404, 'not-found');
      expect(meta).toEqual({ resource: 'account', id });
    }
    for (const id of [theirIdentity, newId()]) {
      const meta = expectProblem(await refused(() => add(advisor(identity), advisor(id))), 404, 'not-found');
      expect(meta).toEqual({ resource: 'identity', id });
    }
  });

  it('refuses a disabled identity', async () => {
    await service.database.query(`update identities set status = 'DISABLED' where id = $1`, [identity]);
    const second = await createIdentity(alice);
    const answer = await refused(() => add(advisor(second), advisor(identity)));
    expect(expectProblem(answer, 403, 'forbidden')).toEqual({ identity_id: identity });
  });

  it('answers 405 to other methods', async () => {
    const { id } = (await add(advisor(identity))).body.members[0];
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await refused(() => alice.call(method, PATH));
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers.get('allow')).toBe('POST');
    }
    expectProblem(await refused(() => alice.call('PUT', `${PATH}/${id}`, {})), 405, 'method-not-allowed');
  });
});

describe('removing members', () => {
  it('answers with the member as it was, and appends an event', async () => {
    const [member] = (await add(advisor(identity))).body.members;
    const answer = await remove(member.id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...member, account_id: account });
    expect(await membersOf(account)).toEqual([]);
    const events = await eventsOf(member.id);
    expect(events.map(({ type }) => type)).toEqual(['account_member.added', 'account_member.removed']);
    expect(events[1]!.resource).toEqual(answer.body);
  });

  it('answers 404 afterwards, for members of others, and for malformed ids', async () => {
    const [member] = (await add(advisor(identity))).body.members;
    const theirs = await refused(() => bob.call('DELETE', `${PATH}/${member.id}`));
    expect(expectProblem(theirs, 404, 'not-found')).toEqual({ resource: 'account_member', id: member.id });
    await remove(member.id);
    expectProblem(await refused(() => remove(member.id)), 404, 'not-found');
    expectInvalid(await refused(() => remove('x')), '/path/id');
  });

  it('happens once for ten requests at once', async () => {
    const [member] = (await add(advisor(identity))).body.members;
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(member.id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
    expect(await eventsOf(member.id)).toHaveLength(2);
  });

  it('finds nothing when another node removes the member at the same moment', async () => {
    const [member] = (await add(advisor(identity))).body.members;
    const answer = await whileOtherNode(
      (tx) => tx.query('delete from account_members where id = $1', [member.id]),
      () => remove(member.id),
    );
    expectProblem(answer, 404, 'not-found');
    expect(await eventsOf(member.id)).toHaveLength(1);
  });

  it('and adding with other roles work in one batch', async () => {
    const [{ id }] = (await add(advisor(identity))).body.members;
    const tables = { identities: identityTable, accounts: accountTable, places: memberPlaces };
    const client = { clientId: 'test', scopes: new Set<string>(), integration: 'FIRST_PARTY' } as const;
    const caller = { ...client, customerId: alice.id };
    const found = (await findMember(service.database, alice.id, id))!;
    const again = { identity_id: identity, roles: ['BENEFICIAL_OWNER' as const] };
    const path = createTestWritePath(service.database);
    await Promise.all([
      path.submit(removeMemberCommand(caller, found, tables)),
      path.submit(addMembersCommand(caller, { account_id: account, members: [again] }, tables)),
    ]);
    expect(path.batches).toEqual([2]);
    expect(await membersOf(account)).toEqual([{ ...again, id: expect.not.stringMatching(id) }]);
  });
});
