import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { BEHIND_PROXY } from '../people/visitor.ts';
import { createEyes, type Eyes, vote } from '../support/four-eyes.ts';
import { createPrivilegedWorld, policyRequest } from '../support/privileged-cases.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Changes of a policy that were proposed from a version that is not the present one; and what operators see that waits. */
let service: TestService;
let eyes: Eyes;
beforeAll(async () => {
  service = await startTestService({ FERRY_FOUR_EYES: 'on', ...BEHIND_PROXY });
  eyes = await createEyes(service);
});
afterAll(() => service.stop());

const propose = async (name: string, more: object = {}) =>
  eyes.maker.call('POST', '/v2/operator/policies', { ...policyRequest(name), ...more });
const versionsOf = (name: string) =>
  service.database.query<{ version: number }>('select version from policies where name = $1', [name]);

it('a change that was proposed from an older version fails when it is approved, and changes nothing', async () => {
  const name = newId();
  expect((await vote(eyes.approver, (await propose(name)).body)).body).toMatchObject({ status: 'EXECUTED' });
  const [first, second] = [
    await propose(name, { reason: 'first' }),
    await propose(name, { reason: 'second' }),
  ];
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(first.body.proposal.based_on_version).toBe(second.body.proposal.based_on_version);
  expect((await vote(eyes.approver, second.body)).body).toMatchObject({ status: 'EXECUTED' });
  const before = await versionsOf(name);
  expect((await vote(eyes.approver, first.body)).body).toMatchObject({
    status: 'FAILED',
    problem: { slug: 'invalid-state' },
  });
  expect(await versionsOf(name)).toEqual(before);
  const stale = await propose(name, { based_on_version: first.body.proposal.based_on_version });
  expect([stale.status, stale.body.type]).toEqual([409, expect.stringMatching(/invalid-state$/)]);
});

async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

it('metrics count the requests that wait and the withdrawals that policies hold, with the age of the oldest', async () => {
  const waiting = 'ferry_approvals_waiting{level="OPERATOR"}';
  await service.database.query(`update approvals set status = 'EXPIRED' where status = 'PENDING'`);
  await expect.poll(() => metric(waiting)).toBe(0);
  const { body: request } = await propose(newId());
  await expect.poll(() => metric(waiting)).toBe(1);
  await expect.poll(() => metric('ferry_approvals_waiting_seconds{level="OPERATOR"}')).toBeGreaterThan(0);
  await vote(eyes.approver, request, 'reject');
  await expect.poll(() => metric(waiting)).toBe(0);
  const world = await createPrivilegedWorld(service, eyes.maker);
  await world.held('operator');
  await expect.poll(() => metric('ferry_withdrawals_held')).toBe(1);
  await expect.poll(() => metric('ferry_withdrawals_held_seconds')).toBeGreaterThan(0);
});
