import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { PRIVILEGED_NAMES } from '../../src/kernel/privileged.ts';
import { APPROVALS, auditLog, createEyes, type Eye, type Eyes, vote } from '../support/four-eyes.ts';
import {
  createPrivilegedWorld,
  evidence,
  PRIVILEGED_CASES,
  type PrivilegedCase,
  type PrivilegedWorld,
} from '../support/privileged-cases.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let eyes: Eyes;
let world: PrivilegedWorld;
beforeAll(async () => {
  service = await startTestService({ FERRY_FOUR_EYES: 'on' });
  eyes = await createEyes(service);
  world = await createPrivilegedWorld(service, eyes.maker);
});
afterAll(() => service.stop());

async function propose({ action, make }: PrivilegedCase) {
  const { path, body, effect } = await make(world);
  const before = await effect();
  const proposed = await eyes.maker.call('POST', path, body);
  expect(proposed).toMatchObject({ status: 202, body: { action, status: 'PENDING', votes: [], quorum: 1 } });
  expect(proposed.body.maker).toMatchObject({ kind: 'CLIENT', id: eyes.maker.clientId });
  expect(await effect()).toEqual(before);
  return { approval: proposed.body as { id: string; digest: string }, before, effect, path, body };
}

const stored = async (eye: Eye, id: string) => (await eye.call('GET', `${APPROVALS}/${id}`)).body;

/** The refused attempt is in the log, with who tried. */
async function expectRecorded(eye: Eye, id: string, problem: string): Promise<void> {
  const query = `actor_ids=${eye.clientId}&actions=approval.approve*`;
  await until('the refused attempt is in the log', async () =>
    (await auditLog(eyes.approver, query)).some(
      (one) => one.outcome === 'REFUSED' && one.refusal.problem === problem && one.actor.id === eye.clientId,
    ),
  );
  expect((await stored(eyes.approver, id)).votes).toEqual([]);
}

describe.each(PRIVILEGED_CASES)('$action', (one) => {
  it('waits until somebody else approves it, and is then executed once, with a record', async () => {
    const { approval, before, effect } = await propose(one);
    const { status, body } = await vote(eyes.approver, approval);
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'EXECUTED', result: {} } });
    expect(await effect()).not.toEqual(before);
    const after = await effect();
    expectProblem(await vote(eyes.approver, approval), 409, 'invalid-state');
    expectProblem(await vote(eyes.other, approval), 409, 'invalid-state');
    expect(await effect()).toEqual(after);
    await until('the log has it', async () => {
      const log = await auditLog(eyes.approver, `resource_ids=${approval.id}`);
      return log.length === 2;
    });
    const [proposed, executed] = await auditLog(eyes.approver, `resource_ids=${approval.id}`);
    expect(proposed).toMatchObject({ action: 'approval.proposed', actor: { id: eyes.maker.clientId } });
    expect(executed).toMatchObject({ action: 'approval.executed', actor: { id: eyes.approver.clientId } });
    expect(executed.before).toEqual(proposed.after);
  });

  it('cannot be approved by its maker', async () => {
    const { approval, before, effect } = await propose(one);
    expectProblem(await vote(eyes.maker, approval), 403, 'forbidden');
    await expectRecorded(eyes.maker, approval.id, 'forbidden');
    expect(await effect()).toEqual(before);
  });

  it('cannot be approved by a second client of the same person', async () => {
    const { approval, before, effect } = await propose(one);
    expectProblem(await vote(eyes.second, approval), 403, 'forbidden');
    await expectRecorded(eyes.second, approval.id, 'forbidden');
    expect(await effect()).toEqual(before);
  });

  it('cannot be approved without the scope', async () => {
    const { approval, before, effect } = await propose(one);
    expectProblem(await vote(eyes.reader, approval), 403, 'insufficient-scope');
    await expectRecorded(eyes.reader, approval.id, 'insufficient-scope');
    expect(await effect()).toEqual(before);
  });

  it('cannot be approved after it expired', async () => {
    const { approval, before, effect } = await propose(one);
    await service.database.query('update approvals set expires_at_ns = 1 where id = $1', [approval.id]);
    expect((await vote(eyes.approver, approval)).body).toMatchObject({
      status: 409,
      meta: { status: 'EXPIRED' },
    });
    expect(await stored(eyes.approver, approval.id)).toMatchObject({ status: 'EXPIRED', votes: [] });
    expect(await effect()).toEqual(before);
  });

  it('cannot be approved with another digest, nor if what is stored was changed', async () => {
    const { approval, before, effect } = await propose(one);
    const other = { ...approval, digest: `${approval.digest.slice(0, -1)}_` };
    expectProblem(await vote(eyes.approver, other), 409, 'digest-mismatch');
    await service.database.query(
      `update approvals set proposal = proposal || '{"reason": "Forged."}' where id = $1`,
      [approval.id],
    );
    expectProblem(await vote(eyes.approver, approval), 409, 'digest-mismatch');
    expect(await effect()).toEqual(before);
  });

  it('counts every approver once, and is not executed before the quorum', async () => {
    const { approval, before, effect } = await propose(one);
    await service.database.query('update approvals set quorum = 2 where id = $1', [approval.id]);
    expect((await vote(eyes.approver, approval)).body).toMatchObject({ status: 'PENDING' });
    expect((await vote(eyes.approver, approval)).body).toMatchObject({
      status: 409,
      meta: { status: 'PENDING' },
    });
    expect(await effect()).toEqual(before);
    expect((await vote(eyes.other, approval)).body).toMatchObject({ status: 'EXECUTED' });
    expect(await effect()).not.toEqual(before);
  });

  it('can be rejected, and is then never executed', async () => {
    const { approval, before, effect } = await propose(one);
    expect((await vote(eyes.approver, approval, 'reject')).body).toMatchObject({ status: 'REJECTED' });
    expect((await vote(eyes.other, approval)).body).toMatchObject({
      status: 409,
      meta: { status: 'REJECTED' },
    });
    expect(await effect()).toEqual(before);
  });

  it('is executed once if two last approvals come at the same time', async () => {
    const { approval, before, effect } = await propose(one);
    const answers = await Promise.all([vote(eyes.approver, approval), vote(eyes.other, approval)]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
    expect(await effect()).not.toEqual(before);
    expect((await stored(eyes.approver, approval.id)).votes).toHaveLength(1);
  });
});

describe('a request', () => {
  it('is tested here for every privileged action of operators', () => {
    const ofOperators = PRIVILEGED_NAMES.filter((name) => !name.startsWith('own_'));
    expect(PRIVILEGED_CASES.map(({ action }) => action).sort()).toEqual([...ofOperators].sort());
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
