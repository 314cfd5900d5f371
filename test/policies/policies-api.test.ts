import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { createEye } from '../support/four-eyes.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { createFiatAccount } from '../support/transfers.ts';

let service: TestService;
let operator: TestCustomer;
let alice: TestCustomer;
let profile: string;
let wire: string;
beforeAll(async () => {
  service = await startTestService();
  operator = await service.createCustomer();
});
afterAll(() => service.stop());

const BITCOIN = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';

/** Each test has a customer of its own, so that their policies do not meet. */
async function newCustomer(): Promise<void> {
  alice = await service.createCustomer();
  profile = await service.createProfile(alice, { USD: '1000000', BTC: '10' });
  wire = await createFiatAccount(service, alice, 'wire');
}

const policyOf = (rules: readonly object[], more: object = {}) => ({
  name: 'limits',
  enabled: true,
  rules,
  reason: 'CASE-1',
  ...more,
});
const set = async (rules: readonly object[], more: object = {}): Promise<Answer> => {
  const answer = await alice.call('POST', '/v2/policies', policyOf(rules, more));
  expect(answer.status).toBe(200);
  return answer;
};
const pay = (amount: string, more: object = {}): Promise<Answer> =>
  alice.call('POST', '/v2/transfer/fiat-withdrawals', {
    profile_id: profile,
    fiat_account_id: wire,
    asset: 'USD',
    amount,
    ...more,
  });
const send = (address = BITCOIN): Promise<Answer> =>
  alice.call('POST', '/v2/transfer/crypto-withdrawals', {
    profile_id: profile,
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    destination_address: address,
    amount: '0.01',
  });

describe('what exceeds a limit', () => {
  it('is refused with the limit, and its ref_id is not used up', async () => {
    await newCustomer();
    await set([{ type: 'amount_limit', name: 'one payment', asset: 'USD', max: '100' }]);
    const refId = newId();
    const refused = await pay('100.01', { ref_id: refId });
    expect(expectProblem(refused, 403, 'policy-refused')).toEqual({
      policy: 'limits',
      rule: 'one payment',
      asset: 'USD',
      max: '100',
      requested: '100.01',
    });
    expect(refused.body.detail).toBe(
      'A withdrawal may be at most 100 USD, 100.01 USD were requested: withdraw less (policy "limits", rule "one payment").',
    );
    expect((await pay('100', { ref_id: refId })).status).toBe(200);
    expect((await send()).status).toBe(200);
  });

  it('of the operator concerns every customer, or those that the policy names', async () => {
    await newCustomer();
    const rules = [{ type: 'amount_limit', name: 'all', asset: 'USD', max: '5' }];
    const scope = { applies_to: { customer_ids: [alice.id], rails: ['wire'] } };
    const made = await operator.call(
      'POST',
      '/v2/operator/policies',
      policyOf(rules, { name: 'op', ...scope }),
    );
    expect(made.body).toMatchObject({ version: 1, name: 'op', ...scope });
    expectProblem(await pay('6'), 403, 'policy-refused');
    // The customer cannot read or change it.
    expectProblem(await alice.call('GET', `/v2/policies/${made.body.id}`), 404, 'not-found');
    const off = policyOf(rules, { name: 'op', enabled: false });
    expect((await operator.call('POST', '/v2/operator/policies', off)).body.version).toBe(2);
    expect((await pay('6')).status).toBe(200);
    const versions = await operator.call('GET', `/v2/operator/policies/${made.body.id}/versions`);
    expect(
      versions.body.items.map((one: any) => [one.version, one.enabled, one.changed_by.slice(0, 7)]),
    ).toEqual([
      [2, false, 'client:'],
      [1, true, 'client:'],
    ]);
  });

  it('shows what is used of velocity limits, without that of other customers', async () => {
    await newCustomer();
    await set([
      { type: 'velocity', name: 'day', asset: 'USD', max: '100', window: 'DAY', per: 'CUSTOMER' },
      { type: 'velocity', name: 'week', asset: 'USD', max: '150', window: 'WEEK', per: 'PROFILE' },
    ]);
    await pay('60');
    const refused = await pay('50');
    expect(expectProblem(refused, 403, 'policy-refused')).toMatchObject({
      rule: 'day',
      max: '100',
      used: '60',
    });
    const path = `/v2/transfer/limits/utilizations?profile_id=${profile}&asset=USD`;
    const shown = await alice.call('GET', path);
    expect(shown.body.items).toMatchObject([
      { rule: 'day', used: '60', available: '40' },
      { rule: 'week', used: '60', available: '90' },
    ]);
    const stranger = await operator.call('GET', path);
    expect(stranger.body.items).toEqual([]);
  });
});

describe('what needs a decision', () => {
  it('is held with its funds until it is released, or fails when it is refused', async () => {
    await newCustomer();
    await set([{ type: 'approval', name: 'large', asset: 'USD', above: '100' }]);
    expect((await pay('100')).body.secondary_status.name).toBe('QUEUED');
    const [first, second] = [await pay('101'), await pay('102')];
    expect(first.body).toMatchObject({
      status: 'PENDING',
      secondary_status: {
        name: 'AWAITING_APPROVAL',
        detail: 'Waiting for an approval (rule "large"). If it is refused, the withdrawal fails.',
      },
    });
    const path = (id: string, verb: string): string => `/v2/policies/held-withdrawals/${id}/${verb}`;
    const reason = { reason: 'checked' };
    // Neither the operator, whose policy it is not, nor a stranger.
    const asOperator = `/v2/operator/withdrawals/${first.body.id}/release`;
    expectProblem(await operator.call('POST', asOperator, reason), 409, 'invalid-state');
    expectProblem(await operator.call('POST', path(first.body.id, 'release'), reason), 404, 'not-found');
    // Nor the one who requested it.
    expectProblem(await alice.call('POST', path(first.body.id, 'release'), reason), 403, 'forbidden');
    const colleague = await createEye(service, alice.id, { scopes: ['policy:approve_withdrawal'] });
    const released = await colleague.call('POST', path(first.body.id, 'release'), reason);
    expect(released.body.secondary_status.name).toBe('QUEUED');
    expectProblem(await alice.call('POST', path(first.body.id, 'release'), reason), 409, 'invalid-state');
    const refused = await alice.call('POST', path(second.body.id, 'refuse'), { reason: 'a secret' });
    expect(refused.body).toMatchObject({ status: 'FAILED', secondary_status: { name: 'REFUSED' } });
    expect(JSON.stringify(refused.body)).not.toContain('a secret');
    const notes = await operator.call('GET', `/v2/operator/withdrawals/${second.body.id}/notes`);
    expect(notes.body.items).toMatchObject([{ kind: 'REFUSED', detail: 'a secret' }]);
    const balance = await alice.call('GET', `/v2/profiles/${profile}/balances/USD`);
    expect(balance.body.held).toBe('241');
  });

  it('by a policy of the operator is released by the operator', async () => {
    await newCustomer();
    const scope = { applies_to: { customer_ids: [alice.id] }, name: 'approvals' };
    const rules = [{ type: 'approval', name: 'all', asset: 'USD', above: '0' }];
    await operator.call('POST', '/v2/operator/policies', policyOf(rules, scope));
    const { body } = await pay('1');
    const release = `/v2/operator/withdrawals/${body.id}/release`;
    expectProblem(
      await alice.call('POST', `/v2/policies/held-withdrawals/${body.id}/release`, { reason: 'mine' }),
      409,
      'invalid-state',
    );
    expect((await operator.call('POST', release, { reason: 'ok' })).body.secondary_status.name).toBe(
      'QUEUED',
    );
  });
});

describe('destinations', () => {
  it('that are not listed are refused; new ones are held for the cooling-off time, by their address in any form', async () => {
    await newCustomer();
    await set([{ type: 'destinations', name: 'known', listed_only: true, cooling_off_hours: 24 }]);
    const refused = await send();
    expectProblem(refused, 403, 'policy-refused');
    expect(refused.body.detail).toContain('list it with POST /v2/destinations');
    const listed = await alice.call('POST', '/v2/destinations', {
      destination: `BITCOIN/${BITCOIN.toUpperCase()}`,
      label: 'Cold',
    });
    expect(listed.body.destination).toBe(`BITCOIN/${BITCOIN}`);
    expect((await send()).body.secondary_status.name).toBe('COOLING_OFF');
    await service.database.query('update policy_destinations set created_at_ns = 0');
    expect((await send()).body.secondary_status.name).toBe('QUEUED');
    const items = (await alice.call('GET', '/v2/destinations')).body.items;
    expect(items).toMatchObject([{ id: listed.body.id, label: 'Cold' }]);
    expect((await alice.call('DELETE', `/v2/destinations/${listed.body.id}`)).status).toBe(200);
    expectProblem(await send(), 403, 'policy-refused');
  });

  it('of any kind may be used after their first use has cooled off', async () => {
    await newCustomer();
    await set([{ type: 'destinations', name: 'new', listed_only: false, cooling_off_hours: 1 }]);
    for (let times = 0; times < 2; times += 1) {
      expect((await pay('1')).body.secondary_status.name).toBe('COOLING_OFF');
    }
    await service.database.query('update policy_destinations set created_at_ns = 0 where customer_id = $1', [
      alice.id,
    ]);
    expect((await pay('1')).body.secondary_status.name).toBe('QUEUED');
  });
});

describe('a policy', () => {
  it.each([
    [{ type: 'amount_limit', name: 'x', asset: 'USD' }, '/rules/0/max'],
    [{ type: 'amount_limit', name: 'x', asset: 'XXX', max: '1' }, '/rules/0/asset'],
    [{ type: 'amount_limit', name: 'x', asset: 'USD', max: '1', per: 'CUSTOMER' }, '/rules/0/per'],
    [{ type: 'velocity', name: 'x', asset: 'USD', max: '1', window: 'DAY', per: 'ALL' }, '/rules/0/per'],
    [
      { type: 'business_hours', name: 'x', time_zone: 'Mars', days: ['MON'], from: '09:00', to: '17:00' },
      '/rules/0/time_zone',
    ],
    [
      { type: 'business_hours', name: 'x', time_zone: 'UTC', days: ['MON'], from: '17:00', to: '09:00' },
      '/rules/0/to',
    ],
    [{ type: 'screening', name: 'x', hook: 'none' }, '/rules/0/hook'],
    [{ type: 'frob', name: 'x' }, '/rules/0/type'],
  ])('with the rule %j is refused, and names the field', async (rule, pointer) => {
    await newCustomer();
    const answer = await alice.call('POST', '/v2/policies', policyOf([rule]));
    expectInvalid(answer, pointer);
  });

  it('can be tried on the withdrawals of the last 30 days before it is in force', async () => {
    await newCustomer();
    for (const amount of ['50', '60', '500']) await pay(amount);
    const rules = [
      { type: 'amount_limit', name: 'one', asset: 'USD', max: '400' },
      { type: 'velocity', name: 'day', asset: 'USD', max: '100', window: 'DAY', per: 'CUSTOMER' },
      { type: 'approval', name: 'large', asset: 'USD', above: '40' },
    ];
    const tried = await alice.call('POST', '/v2/policies/dry-run', { rules });
    expect(tried.body).toMatchObject({ examined: 3, passed: 0, held: 1, refused: 2, complete: true });
    expect(tried.body.withdrawals.map((one: any) => [one.outcome, one.rule])).toEqual([
      ['REFUSED', 'one'],
      ['REFUSED', 'day'],
      ['HELD', 'large'],
    ]);
    expect((await alice.call('GET', '/v2/policies')).body.items).toEqual([]);
    expect((await pay('1')).body.secondary_status.name).toBe('QUEUED');
  });
});
