import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { invite } from '../people/visitor.ts';
import { createEye, type Eye } from '../support/four-eyes.ts';
import { createPrivilegedWorld, type PrivilegedWorld, policyRequest } from '../support/privileged-cases.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';

/** Privileged actions of customers, on their own policies and on withdrawals that these hold. */
let service: TestService;
let world: PrivilegedWorld;
let maker: Eye;
let second: Eye;
let approver: Eye;
let stranger: Eye;
const SCOPES = [
  'policy:read_policy',
  'policy:write_policy',
  'policy:approve_withdrawal',
  'control:read_approval',
  'control:approve',
];
beforeAll(async () => {
  service = await startTestService({ FERRY_FOUR_EYES: 'on' });
  const operator = await createEye(service, (await service.createCustomer()).id, {
    scopes: ['operator:review', 'operator:read'],
  });
  world = await createPrivilegedWorld(service, operator);
  const { id } = world.customer;
  const { id: person } = await invite(service, { customerId: id, roles: ['ADMINISTRATOR'] });
  maker = await createEye(service, id, { scopes: SCOPES, person });
  second = await createEye(service, id, { scopes: SCOPES, person });
  approver = await createEye(service, id, { scopes: SCOPES });
  stranger = await createEye(service, (await service.createCustomer()).id, { scopes: SCOPES });
});
afterAll(() => service.stop());

const vote = (eye: Eye, { id, digest }: { id: string; digest: string }) =>
  eye.call('POST', `/v2/approvals/${id}/approve`, { digest, reason: 'Looked at it.' });

const CASES = [
  {
    action: 'own_policy.change',
    async make() {
      const name = `policy ${newId()}`;
      return { path: '/v2/policies', body: policyRequest(name), effect: () => world.versionsOf(name) };
    },
  },
  ...(['release', 'refuse'] as const).map((verb) => ({
    action: `own_withdrawal.${verb}`,
    async make() {
      const id = await world.held(world.customer.id);
      return {
        path: `/v2/policies/held-withdrawals/${id}/${verb}`,
        body: { reason: 'Looked at.' },
        effect: async () => [await world.transferOf(id), await world.holdsOf(id)],
      };
    },
  })),
];

describe.each(CASES)('$action', ({ action, make }) => {
  it('waits for another hand of the same customer, and is then executed', async () => {
    const { path, body, effect } = await make();
    const before = await effect();
    const proposed = await maker.call('POST', path, body);
    expect(proposed).toMatchObject({ status: 202, body: { action, level: 'CUSTOMER', status: 'PENDING' } });
    expectProblem(await vote(maker, proposed.body), 403, 'forbidden');
    expectProblem(await vote(second, proposed.body), 403, 'forbidden');
    expectProblem(await vote(stranger, proposed.body), 404, 'not-found');
    expect(await effect()).toEqual(before);
    expect((await vote(approver, proposed.body)).body).toMatchObject({ status: 'EXECUTED' });
    expect(await effect()).not.toEqual(before);
  });
});

it('a withdrawal of another customer is not found', async () => {
  const id = await world.held(world.customer.id);
  const path = `/v2/policies/held-withdrawals/${id}/release`;
  expectProblem(await stranger.call('POST', path, { reason: 'Looked at.' }), 404, 'not-found');
});
