import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { PRIVILEGED_NAMES } from '../../src/kernel/privileged.ts';
import { BEHIND_PROXY } from '../people/visitor.ts';
import { CLIENT_CASES } from '../support/client-cases.ts';
import { APPROVALS, createEyes, type Eyes, vote } from '../support/four-eyes.ts';
import { fourEyesTable } from '../support/four-eyes-table.ts';
import {
  createPrivilegedWorld,
  evidence,
  PRIVILEGED_CASES,
  type PrivilegedWorld,
} from '../support/privileged-cases.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let eyes: Eyes;
let world: PrivilegedWorld;
beforeAll(async () => {
  service = await startTestService({ FERRY_FOUR_EYES: 'on', ...BEHIND_PROXY });
  eyes = await createEyes(service);
  world = await createPrivilegedWorld(service, eyes.maker);
});
afterAll(() => service.stop());

const table = fourEyesTable(() => ({ service, eyes, world, auditor: eyes.approver, approvals: APPROVALS }));
const { propose } = table;
table.describe(PRIVILEGED_CASES);
table.describe(CLIENT_CASES);

describe('a request', () => {
  it('is tested here for every privileged action of operators', () => {
    const ofOperators = PRIVILEGED_NAMES.filter((name) => !name.startsWith('own_'));
    const tested = [...PRIVILEGED_CASES, ...CLIENT_CASES].map(({ action }) => action);
    expect(tested.sort()).toEqual([...ofOperators].sort());
  });

  it('is proposed once for each ref_id, and answers with the record after it was executed', async () => {
    const { approval, path, body } = await propose(PRIVILEGED_CASES[0]!);
    const again = await eyes.maker.call('POST', path, body);
    expect(again).toMatchObject({ status: 202, body: { id: approval.id } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await eyes.maker.call('POST', path, { ...body, amount: '2' });
    expectProblem(other, 409, 'already-exists');
    const executed = (await vote(eyes.approver, approval)).body;
    const entry = await eyes.maker.call('POST', path, body);
    expect(entry).toMatchObject({ status: 200, body: { id: executed.result.id, kind: 'WRITE_OFF' } });
  });

  it('that would be refused now is refused at once', async () => {
    const path = `/v2/operator/withdrawals/${newId()}/cancel`;
    expectProblem(await eyes.maker.call('POST', path, evidence()), 404, 'not-found');
  });

  it('ends FAILED if its action is refused when it is approved', async () => {
    const id = await world.suspense();
    const path = `/v2/operator/suspense-deposits/${id}/credit`;
    const first = await eyes.maker.call('POST', path, { profile_id: world.profile, ...evidence() });
    const second = await eyes.maker.call('POST', path, { profile_id: world.profile, ...evidence() });
    expect((await vote(eyes.approver, first.body)).body.status).toBe('EXECUTED');
    const before = await world.balance();
    const failed = await vote(eyes.approver, second.body);
    expect(failed.body).toMatchObject({ status: 'FAILED', problem: { slug: 'invalid-state' } });
    expect(await world.balance()).toBe(before);
  });

  it('ends FAILED if the funds are gone when it is approved', async () => {
    const poor = await service.createProfile(world.customer, { USD: '10' });
    const write = { kind: 'WRITE_OFF', profile_id: poor, asset: 'USD', amount: '10' };
    const path = '/v2/operator/journal-entries';
    const first = await eyes.maker.call('POST', path, { ...write, ...evidence() });
    const second = await eyes.maker.call('POST', path, { ...write, ...evidence() });
    expect((await vote(eyes.approver, first.body)).body.status).toBe('EXECUTED');
    const failed = await vote(eyes.approver, second.body);
    expect(failed.body).toMatchObject({ status: 'FAILED', problem: { slug: 'insufficient-funds' } });
  });

  it('can be withdrawn by its maker', async () => {
    const { approval } = await propose(PRIVILEGED_CASES[0]!);
    expect((await vote(eyes.maker, approval, 'reject')).body).toMatchObject({ status: 'REJECTED' });
  });

  it('is listed by status and action, for operators only', async () => {
    const { approval } = await propose(PRIVILEGED_CASES[0]!);
    const list = await eyes.approver.call('GET', `${APPROVALS}?statuses=PENDING&actions=journal_entry.book`);
    expect(list.body.items[0]).toMatchObject({ id: approval.id, status: 'PENDING' });
    expectProblem(await world.customer.call('GET', `/v2/approvals/${approval.id}`), 404, 'not-found');
  });
});
