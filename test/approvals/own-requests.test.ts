import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { PRIVILEGED_NAMES } from '../../src/kernel/privileged.ts';
import { BEHIND_PROXY } from '../people/visitor.ts';
import { OWN_PEOPLE_CASES } from '../support/client-cases.ts';
import { createEye, createOwnEyes, type Eye, type Eyes, vote } from '../support/four-eyes.ts';
import { fourEyesTable } from '../support/four-eyes-table.ts';
import {
  createPrivilegedWorld,
  type PrivilegedCase,
  type PrivilegedWorld,
  policyRequest,
} from '../support/privileged-cases.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';

/** Privileged actions of customers, on their own policies, people, and withdrawals that their policies hold. */
let service: TestService;
let world: PrivilegedWorld;
let eyes: Eyes;
let auditor: Eye;
let stranger: Eye;
beforeAll(async () => {
  service = await startTestService({ FERRY_FOUR_EYES: 'on', ...BEHIND_PROXY });
  auditor = await createEye(service, (await service.createCustomer()).id, {
    scopes: ['operator:review', 'operator:read'],
  });
  world = await createPrivilegedWorld(service, auditor);
  eyes = await createOwnEyes(service, world.customer.id);
  stranger = (await createOwnEyes(service, (await service.createCustomer()).id)).approver;
});
afterAll(() => service.stop());

const CASES: readonly PrivilegedCase[] = [
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
  {
    action: 'own_destination.list',
    async make() {
      const destination = `fiat_account/${newId()}`;
      const effect = () =>
        service.database.query('select listed from policy_destinations where destination = $1', [
          destination,
        ]);
      return { path: '/v2/destinations', body: { destination }, effect };
    },
  },
  ...OWN_PEOPLE_CASES,
];

const table = fourEyesTable(() => ({ service, eyes, world, auditor, approvals: '/v2/approvals' }));
table.describe(CASES);

it('every privileged action of customers is in the table', () => {
  const own = PRIVILEGED_NAMES.filter((name) => name.startsWith('own_'));
  expect(CASES.map(({ action }) => action).sort()).toEqual([...own].sort());
});

it.each(CASES)('a request for $action is not found by another customer', async (one) => {
  const { approval, before, effect } = await table.propose(one);
  expectProblem(await vote(stranger, approval, 'approve', '/v2/approvals'), 404, 'not-found');
  expect(await effect()).toEqual(before);
});

it('a withdrawal of another customer is not found', async () => {
  const id = await world.held(world.customer.id);
  const path = `/v2/policies/held-withdrawals/${id}/release`;
  expectProblem(await stranger.call('POST', path, { reason: 'Looked at.' }), 404, 'not-found');
});
