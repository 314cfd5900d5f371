import { describe, expect, it } from 'vitest';
import { auditLog, type Eye, type Eyes, vote } from './four-eyes.ts';
import type { PrivilegedCase, PrivilegedWorld } from './privileged-cases.ts';
import { IS_LONG } from './rounds.ts';
import { expectProblem, type TestService } from './service.ts';
import { until } from './until.ts';

type Stage = {
  readonly service: TestService;
  readonly eyes: Eyes;
  readonly world: PrivilegedWorld;
  /** Reads the audit log of everybody. */
  readonly auditor: Eye;
  /** The path of the requests. */
  readonly approvals: string;
};

/** Everything that can go wrong with a request that needs approval, for each privileged action. */
export function fourEyesTable(stage: () => Stage) {
  const makerOf = ({ byPerson = false }: Pick<PrivilegedCase, 'byPerson'>): Eye =>
    byPerson ? stage().eyes.person : stage().eyes.maker;

  const voteOn = (eye: Eye, approval: { id: string; digest: string }, verb = 'approve') =>
    vote(eye, approval, verb, stage().approvals);

  async function propose(one: PrivilegedCase) {
    const { action, make } = one;
    const { method = 'POST', path, body, effect } = await make(stage().world);
    const maker = makerOf(one);
    const before = await effect();
    const proposed = await maker.call(method, path, body);
    expect(proposed).toMatchObject({
      status: 202,
      body: { action, status: 'PENDING', votes: [], quorum: 1, maker: { id: maker.clientId } },
    });
    expect(await effect()).toEqual(before);
    return { approval: proposed.body as { id: string; digest: string }, before, effect, path, body };
  }

  const stored = async (eye: Eye, id: string) => (await eye.call('GET', `${stage().approvals}/${id}`)).body;

  /** The refused attempt is in the log, with who tried. */
  async function expectRecorded(eye: Eye, id: string, problem: string): Promise<void> {
    const { auditor, eyes } = stage();
    const query = `actor_ids=${eye.clientId}&actions=approval.approve*`;
    await until('the refused attempt is in the log', async () =>
      (await auditLog(auditor, query)).some(
        (one) =>
          one.outcome === 'REFUSED' && one.refusal.problem === problem && one.actor.id === eye.clientId,
      ),
    );
    expect((await stored(eyes.approver, id)).votes).toEqual([]);
  }

  const describeCases = (cases: readonly PrivilegedCase[]) =>
    describe.each(cases)('$action', (one) => {
      /** In a quick run each action has a third of these tests, and all of them together have all, several times. */
      let number = cases.indexOf(one);
      const inTurn = (title: string, work: () => Promise<void>): void => {
        number += 1;
        it.runIf(IS_LONG || number % 3 === 0)(title, work);
      };

      it('waits until somebody else approves it, and is then executed once, with a record', async () => {
        const { approval, before, effect } = await propose(one);
        const { status, body } = await voteOn(stage().eyes.approver, approval);
        expect({ status, body }).toMatchObject({ status: 200, body: { status: 'EXECUTED', result: {} } });
        expect(await effect()).not.toEqual(before);
        const after = await effect();
        expectProblem(await voteOn(stage().eyes.approver, approval), 409, 'invalid-state');
        expectProblem(await voteOn(stage().eyes.other, approval), 409, 'invalid-state');
        expect(await effect()).toEqual(after);
        await until('the log has it', async () => {
          const log = await auditLog(stage().auditor, `resource_ids=${approval.id}`);
          return log.length === 2;
        });
        const [proposed, executed] = await auditLog(stage().auditor, `resource_ids=${approval.id}`);
        expect(proposed).toMatchObject({ action: 'approval.proposed', actor: { id: makerOf(one).clientId } });
        expect(executed).toMatchObject({
          action: 'approval.executed',
          actor: { id: stage().eyes.approver.clientId },
        });
        expect(executed.before).toEqual(proposed.after);
      });

      inTurn('cannot be approved by its maker', async () => {
        const { approval, before, effect } = await propose(one);
        expectProblem(await voteOn(makerOf(one), approval), 403, 'forbidden');
        await expectRecorded(makerOf(one), approval.id, 'forbidden');
        expect(await effect()).toEqual(before);
      });

      inTurn('cannot be approved by a second client of the same person', async () => {
        const { approval, before, effect } = await propose(one);
        expectProblem(await voteOn(stage().eyes.second, approval), 403, 'forbidden');
        await expectRecorded(stage().eyes.second, approval.id, 'forbidden');
        expect(await effect()).toEqual(before);
      });

      inTurn('cannot be approved without the scope', async () => {
        const { approval, before, effect } = await propose(one);
        expectProblem(await voteOn(stage().eyes.reader, approval), 403, 'insufficient-scope');
        await expectRecorded(stage().eyes.reader, approval.id, 'insufficient-scope');
        expect(await effect()).toEqual(before);
      });

      inTurn('cannot be approved after it expired', async () => {
        const { approval, before, effect } = await propose(one);
        await stage().service.database.query('update approvals set expires_at_ns = 1 where id = $1', [
          approval.id,
        ]);
        expect((await voteOn(stage().eyes.approver, approval)).body).toMatchObject({
          status: 409,
          meta: { status: 'EXPIRED' },
        });
        expect(await stored(stage().eyes.approver, approval.id)).toMatchObject({
          status: 'EXPIRED',
          votes: [],
        });
        expect(await effect()).toEqual(before);
      });

      inTurn('cannot be approved with another digest, nor if what is stored was changed', async () => {
        const { approval, before, effect } = await propose(one);
        const other = { ...approval, digest: `${approval.digest.slice(0, -1)}_` };
        expectProblem(await voteOn(stage().eyes.approver, other), 409, 'digest-mismatch');
        await stage().service.database.query(
          `update approvals set proposal = proposal || '{"reason": "Forged."}' where id = $1`,
          [approval.id],
        );
        expectProblem(await voteOn(stage().eyes.approver, approval), 409, 'digest-mismatch');
        expect(await effect()).toEqual(before);
      });

      inTurn('counts every approver once, and is not executed before the quorum', async () => {
        const { approval, before, effect } = await propose(one);
        await stage().service.database.query('update approvals set quorum = 2 where id = $1', [approval.id]);
        expect((await voteOn(stage().eyes.approver, approval)).body).toMatchObject({ status: 'PENDING' });
        expect((await voteOn(stage().eyes.approver, approval)).body).toMatchObject({
          status: 409,
          meta: { status: 'PENDING' },
        });
        expect(await effect()).toEqual(before);
        expect((await voteOn(stage().eyes.other, approval)).body).toMatchObject({ status: 'EXECUTED' });
        expect(await effect()).not.toEqual(before);
      });

      inTurn('can be rejected, and is then never executed', async () => {
        const { approval, before, effect } = await propose(one);
        expect((await voteOn(stage().eyes.approver, approval, 'reject')).body).toMatchObject({
          status: 'REJECTED',
        });
        expect((await voteOn(stage().eyes.other, approval)).body).toMatchObject({
          status: 409,
          meta: { status: 'REJECTED' },
        });
        expect(await effect()).toEqual(before);
      });

      inTurn('is executed once if two last approvals come at the same time', async () => {
        const { approval, before, effect } = await propose(one);
        const answers = await Promise.all([
          voteOn(stage().eyes.approver, approval),
          voteOn(stage().eyes.other, approval),
        ]);
        expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
        expect(await effect()).not.toEqual(before);
        expect((await stored(stage().eyes.approver, approval.id)).votes).toHaveLength(1);
      });
    });

  return { describe: describeCases, propose };
}
