import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { balanceOf, expectNothingWritten } from '../support/transfers.ts';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let sender: string;
let other: string;
let profile: string;

beforeAll(async () => {
  service = await startTestService();
  [alice, bob] = [await service.createCustomer(), await service.createCustomer()];
  sender = await service.createProfile(alice, { USD: '1000' });
  other = await service.createProfile(alice, { USD: '1000' });
  profile = await service.createProfile(bob);
});
afterAll(() => service.stop());

const choose = (body: object): Promise<Answer> => bob.call('PUT', `/v2/profiles/${profile}/incoming`, body);
const pay = (from: string, to = profile): Promise<Answer> =>
  alice.call('POST', '/v2/transfer/platform', {
    from_profile_id: from,
    to_profile_id: to,
    asset: 'USD',
    amount: '1',
  });
const offer = (from: string, to = profile): Promise<Answer> =>
  alice.call('POST', '/v2/settlement/transactions', {
    source_profile_id: from,
    target_profile_id: to,
    legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
  });

describe('a profile', () => {
  it('accepts everybody, unless its owner chooses otherwise', async () => {
    expect((await pay(sender)).status).toBe(200);
    expect((await offer(sender)).status).toBe(200);
    const { body } = await bob.call('GET', `/v2/profiles/${profile}`);
    expect(body).not.toHaveProperty('incoming');
  });

  it('that lists whom it accepts does not exist for anybody else', async () => {
    const chosen = { accepts_from: 'LISTED', profile_ids: [other] };
    expect(await choose(chosen)).toMatchObject({ status: 200, body: chosen });
    expect((await bob.call('GET', `/v2/profiles/${profile}`)).body).toMatchObject({ incoming: chosen });
    for (const ask of [pay, offer]) {
      const refused = await expectNothingWritten(service, () => ask(sender));
      const id = newId();
      const unknown = await ask(sender, id);
      expect(expectProblem(refused, 404, 'not-found')).toEqual({ resource: 'profile', id: profile });
      expect(JSON.stringify(unknown.body).replaceAll(id, profile)).toBe(JSON.stringify(refused.body));
      expect((await ask(other)).status).toBe(200);
    }
  });

  it('with an empty list accepts only the profiles of its owner', async () => {
    const own = await service.createProfile(bob, { USD: '10' });
    expect(await choose({ accepts_from: 'LISTED' })).toMatchObject({
      status: 200,
      body: { accepts_from: 'LISTED', profile_ids: [] },
    });
    expect((await pay(other)).status).toBe(404);
    const paid = await bob.call('POST', '/v2/transfer/internal', {
      from_profile_id: own,
      to_profile_id: profile,
      asset: 'USD',
      amount: '4',
    });
    expect(paid.status).toBe(200);
    // It can still pay others.
    const before = await balanceOf(service, sender, 'USD');
    const out = await bob.call('POST', '/v2/transfer/platform', {
      from_profile_id: profile,
      to_profile_id: sender,
      asset: 'USD',
      amount: '2',
    });
    expect(out.status).toBe(200);
    expect(await balanceOf(service, sender, 'USD')).not.toEqual(before);
  });

  it('accepts everybody again when its owner says so', async () => {
    expect(await choose({ accepts_from: 'ANYONE' })).toMatchObject({
      status: 200,
      body: { accepts_from: 'ANYONE' },
    });
    expect((await pay(sender)).status).toBe(200);
  });
});

describe('the choice', () => {
  it('is refused for a profile of another customer, as for an unknown one', async () => {
    for (const id of [profile, newId()]) {
      const answer = await alice.call('PUT', `/v2/profiles/${id}/incoming`, { accepts_from: 'ANYONE' });
      expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'profile', id });
    }
  });

  it('names what is wrong with it', async () => {
    expectInvalid(await choose({ accepts_from: 'ANYONE', profile_ids: [other] }), '/profile_ids');
    expectInvalid(await choose({ accepts_from: 'LISTED', profile_ids: ['x'] }), '/profile_ids/0');
    expectInvalid(await choose({ accepts_from: 'LISTED', profile_ids: [other, other] }), '/profile_ids');
    expectInvalid(await choose({ accepts_from: 'NOBODY' }), '/accepts_from');
  });
});
