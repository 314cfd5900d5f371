import type { Database } from '../database/database.ts';
import { type Actor, actorOf } from '../kernel/actor.ts';
import type { FourEyes, PrivilegedName } from '../kernel/privileged.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { createOnce } from '../ledger/create.ts';
import { resourcesByRefId } from '../ledger/keys.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { Declare, Maker, PrivilegedAction, Proposal, Propose } from './action.ts';
import { type Approval, digestOf, presentApproval, refusalOf } from './approval.ts';
import {
  approveCommand,
  type Ballot,
  claimCommand,
  failCommand,
  proposeCommand,
  rejectCommand,
} from './commands.ts';
import { changedProblem, claimProblem, nothingToClaim } from './rules.ts';
import { approvalById, countPending } from './store.ts';

type Dependencies = {
  readonly database: Database;
  readonly writePath: Pick<WritePath, 'submit'>;
  readonly fourEyes: FourEyes;
};

type Action = PrivilegedAction<Proposal, unknown>;

export type Voting = {
  readonly declare: Declare;
  approve(ballot: Ballot): Promise<Approval>;
  /** What the executed request made for its maker alone. */
  claim(id: string, claimer: Actor): Promise<object>;
  reject(ballot: Ballot): Promise<Approval>;
};

function tooMany(): Problem {
  return new Problem(
    'forbidden',
    `Your customer has ${LIMITS.approvalsPendingMax} requests that wait for approval, which is the maximum.`,
    { max: LIMITS.approvalsPendingMax },
  );
}

/** As the maker would submit it. Votes are counted for whoever casts them. */
const makerOf = ({ customerId, maker }: { customerId: string; maker: Actor }): Maker => ({
  customerId,
  clientId: maker.id,
  actor: maker,
});

export function createVoting({ database, writePath, fourEyes }: Dependencies): Voting {
  const actions = new Map<PrivilegedName, Action>();

  function proposing<Asked extends Proposal>(action: Action): Propose<Asked> {
    return async (caller, asked) => {
      const quorum = fourEyes(action.name);
      if (quorum.approvals === 0) return undefined;
      const { customerId } = caller;
      const maker = makerOf({ customerId, maker: caller.actor ?? actorOf(caller) });
      const inner = await action.command(maker, asked);
      const { key } = inner;
      // It was executed under this ref_id: the answer is that record.
      if (key && (await resourcesByRefId(database, customerId, key.space, [key.refId])).length > 0)
        return undefined;
      if (
        (await countPending(database, customerId, LIMITS.approvalsPendingMax)) >= LIMITS.approvalsPendingMax
      )
        throw tooMany();
      const { body, replayed } = await createOnce(writePath, {
        command: proposeCommand(maker, action, asked, quorum, inner),
        load: (id) => approvalById(database, id),
        present: (approval) => JSON.stringify(presentApproval(approval)),
      });
      return { body, status: 202, ...(replayed === true && { replayed }) };
    };
  }

  /** The command as it is built from the stored request now, or why it cannot be built. */
  async function innerOf(approval: Approval, action: Action) {
    try {
      return await action.command(makerOf(approval), approval.proposal);
    } catch (error) {
      if (error instanceof Problem && error.slug !== 'unavailable') return error;
      throw error;
    }
  }

  async function submit(command: ReturnType<typeof rejectCommand>): Promise<Approval> {
    const outcome = await writePath.submit(command);
    if (outcome.replayed) throw new Error('a vote without a ref_id cannot be a replay');
    return outcome.answer;
  }

  async function inForce(voted: Approval, action: Action): Promise<Approval> {
    if (voted.status === 'EXECUTED') await action.inForce?.(voted.result!);
    return voted;
  }

  /** The ledger refuses what the last vote would execute: the request ends FAILED. */
  async function approve(ballot: Ballot): Promise<Approval> {
    const approval = await approvalById(database, ballot.id);
    const action = approval && actions.get(approval.action);
    if (action === undefined) throw notFound('approval', ballot.id);
    // What was changed in the database is not executed, whatever it is: the vote is refused when it is decided.
    const isIntact = digestOf(approval!) === approval!.digest;
    const inner = isIntact ? await innerOf(approval!, action) : changedProblem(approval!.id);
    try {
      const outcome = await writePath.submit(approveCommand(ballot, action, inner));
      if (!outcome.replayed) return await inForce(outcome.answer, action);
    } catch (error) {
      const isOfAction =
        error instanceof Problem && error.slug !== 'unavailable' && !('approval_id' in error.meta);
      if (!isOfAction || (error.slug === 'not-found' && error.meta.resource === 'approval')) throw error;
      return submit(failCommand(ballot, refusalOf(error)));
    }
    const taken = new Problem(
      'already-exists',
      'The ref_id of the request was used for another one meanwhile.',
    );
    return submit(failCommand(ballot, refusalOf(taken)));
  }

  return {
    declare(action) {
      if (actions.has(action.name)) throw new Error(`the action ${action.name} is declared twice`);
      const known = action as unknown as Action;
      actions.set(known.name, known);
      return proposing(known);
    },
    approve,
    async claim(id, claimer) {
      const approval = await approvalById(database, id);
      const action = approval && actions.get(approval.action);
      if (approval === undefined || action === undefined) throw notFound('approval', id);
      const fault = claimProblem(approval, claimer, approval.updatedAtNs);
      if (fault !== undefined) throw fault;
      const handover = action.handover?.(approval.proposal, approval.result!);
      if (handover === undefined) throw nothingToClaim(id);
      await submit(claimCommand(id, claimer, handover));
      return { approval_id: id, ...handover.given() };
    },
    reject: (ballot) => submit(rejectCommand(ballot)),
  };
}
