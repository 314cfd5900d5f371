import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  type Answer,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { createAccount, createFiatAccount, createIdentity } from '../support/transfers.ts';

let service: TestService;
let operator: TestCustomer;
let alice: TestCustomer;
let bob: TestCustomer;
let bobs: string;
beforeAll(async () => {
  service = await startTestService();
  [operator, alice, bob] = [
    await service.createCustomer(),
    await service.createCustomer(),
    await service.createCustomer(),
  ];
  bobs = await service.createProfile(bob, { USD: '1000' });
});
afterAll(() => service.stop());

const freeze = (scope: string, subjectId?: string): Promise<Answer> =>
  operator.call('POST', '/v2/operator/freezes', { scope, subject_id: subjectId, reason: 'CASE-1' });
const lift = ({ body }: Answer): Promise<Answer> =>
  operator.call('POST', `/v2/operator/freezes/${body.id}/lift`, { reason: 'CASE-1' });
const pay = (who: TestCustomer, from: string, to: string, more: object = {}): Promise<Answer> =>
  who.call('POST', '/v2/transfer/platform', {
    from_profile_id: from,
    to_profile_id: to,
    asset: 'USD',
    amount: '1',
    ...more,
  });

describe('a frozen profile', () => {
  it('takes nothing and gives nothing, also if its balances and status are cached, until the freeze is lifted', async () => {
    const profile = await service.createProfile(alice, { USD: '1000' });
    const other = await service.createProfile(alice, { USD: '1000' });
    for (let times = 0; times < 3; times += 1) expect((await pay(alice, profile, other)).status).toBe(200);
    const frozen = await freeze('PROFILE', profile);
    expect(frozen.body).toMatchObject({ status: 'IN_FORCE', in_force: true, submissions_under_way: 0 });
    for (const answer of [await pay(alice, profile, other), await pay(alice, other, profile)]) {
      expectProblem(answer, 403, 'forbidden');
      expect(answer.body.detail).toBe(`Profile ${profile} is frozen.`);
    }
    // A stranger cannot tell it from one that does not exist.
    const [stranger, unknown] = [await pay(bob, bobs, profile), await pay(bob, bobs, newId())];
    expectProblem(stranger, 404, 'not-found');
    expect({ ...stranger.body, detail: '', meta: {} }).toEqual({ ...unknown.body, detail: '', meta: {} });
    expect(stranger.body.meta).toEqual({ resource: 'profile', id: profile });
    expect((await lift(frozen)).body).toMatchObject({ status: 'LIFTED', lifted_because: 'CASE-1' });
    expect((await pay(alice, profile, other)).status).toBe(200);
    expect((await pay(bob, bobs, profile)).status).toBe(200);
  });

  it('is credited with what arrives, and cannot use it', async () => {
    const profile = await service.createProfile(alice);
    const wanted = { profile_id: profile, fiat_network: 'WIRE' };
    const { body: instructions } = await alice.call('POST', '/v2/transfer/fiat-deposit-instructions', wanted);
    const frozen = await freeze('PROFILE', profile);
    const deposit = { fiat_network: 'WIRE', memo_id: instructions.memo_id, amount: '50', reference: newId() };
    expect((await alice.call('POST', '/v2/sandbox/fiat-deposits', deposit)).body.transfer.amount).toBe('50');
    const balance = await alice.call('GET', `/v2/profiles/${profile}/balances/USD`);
    expect(balance.body.available).toBe('50');
    expectProblem(await pay(alice, profile, bobs), 403, 'forbidden');
    await lift(frozen);
  });

  it('can neither propose a settlement transaction nor affirm one', async () => {
    const profile = await service.createProfile(alice, { USD: '1000' });
    const legs = [{ direction: 'DELIVER', asset: 'USD', amount: '1' }];
    const body = { source_profile_id: bobs, target_profile_id: profile, legs };
    const proposed = await bob.call('POST', '/v2/settlement/transactions', body);
    expect(proposed.status).toBe(200);
    const frozen = await freeze('CUSTOMER', alice.id);
    const affirm = `/v2/settlement/transactions/${proposed.body.id}/affirm`;
    expectProblem(await alice.call('PUT', affirm), 403, 'forbidden');
    expectProblem(await bob.call('POST', '/v2/settlement/transactions', body), 404, 'not-found');
    await lift(frozen);
    expect((await alice.call('PUT', affirm)).status).toBe(200);
  });
});

describe('a frozen identity', () => {
  it('stops requests that name it, and the profiles of accounts that it owns', async () => {
    const identity = await createIdentity(service, alice);
    const account = await createAccount(service, alice, identity);
    const plain = await service.createProfile(alice, { USD: '1000' });
    const created = await alice.call('POST', '/v2/profiles', { nickname: newId(), account_id: account });
    expect(created.status).toBe(200);
    const frozen = await freeze('IDENTITY', identity);
    const named = await pay(alice, plain, bobs, { from_identity_id: identity });
    expectProblem(named, 403, 'forbidden');
    expect(named.body.detail).toBe(`Identity ${identity} is frozen.`);
    expectProblem(await pay(alice, plain, bobs, { from_account_id: account }), 403, 'forbidden');
    expectProblem(await pay(alice, plain, created.body.id), 403, 'forbidden');
    expectProblem(await pay(bob, bobs, created.body.id), 404, 'not-found');
    expect((await pay(alice, plain, bobs)).status).toBe(200);
    await lift(frozen);
    expect((await pay(alice, plain, bobs, { from_identity_id: identity })).status).toBe(200);
  });
});

describe('the kill switch', () => {
  it('stops everybody, and leaves reads and retries of what was done as they are', async () => {
    const profile = await service.createProfile(alice, { USD: '1000' });
    const wire = await createFiatAccount(service, alice, 'wire');
    const request = { ref_id: newId() };
    const before = await pay(alice, profile, bobs, request);
    const frozen = await freeze('PLATFORM');
    expectProblem(await pay(alice, profile, bobs), 403, 'forbidden');
    expectProblem(await pay(bob, bobs, profile), 403, 'forbidden');
    const withdrawal = { profile_id: profile, fiat_account_id: wire, asset: 'USD', amount: '5' };
    expectProblem(await alice.call('POST', '/v2/transfer/fiat-withdrawals', withdrawal), 403, 'forbidden');
    expect((await pay(alice, profile, bobs, request)).body.id).toBe(before.body.id);
    expect((await alice.call('GET', `/v2/transfer/transfers/${before.body.id}`)).status).toBe(200);
    await lift(frozen);
    expect((await pay(alice, profile, bobs)).status).toBe(200);
  });
});

describe('freezes', () => {
  it('are listed with who, why and when; what is frozen already keeps its freeze', async () => {
    const profile = await service.createProfile(alice);
    const [first, second] = [await freeze('PROFILE', profile), await freeze('PROFILE', profile)];
    expect(second.body).toEqual(first.body);
    const listed = await operator.call('GET', '/v2/operator/freezes?statuses=IN_FORCE&scopes=PROFILE');
    const { in_force: _, submissions_under_way: __, ...shown } = first.body;
    expect(listed.body.items).toEqual([shown]);
    expect((await operator.call('GET', `/v2/operator/freezes/${first.body.id}`)).body).toEqual(shown);
    await lift(first);
    expectProblem(await lift(first), 409, 'invalid-state');
    expect((await operator.call('GET', '/v2/operator/freezes?statuses=IN_FORCE')).body.items).toEqual([]);
  });

  it('name a subject that exists, and none for the platform', async () => {
    for (const scope of ['PROFILE', 'IDENTITY', 'CUSTOMER'])
      expectProblem(await freeze(scope, newId()), 404, 'not-found');
    expectProblem(await freeze('CUSTOMER', bobs), 404, 'not-found');
    expectProblem(await freeze('PLATFORM', bobs), 400, 'invalid-request');
    expectProblem(await freeze('PROFILE'), 400, 'invalid-request');
    expect((await operator.call('GET', '/v2/operator/freezes?statuses=IN_FORCE')).body.items).toEqual([]);
  });
});
