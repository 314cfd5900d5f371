import { actorOf } from '../kernel/actor.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { WritePath } from '../ledger/write-path.ts';
import type { Networks } from '../networks/register.ts';
import type { RailName } from '../rails/rail.ts';
import type { TransferAccess } from '../transfers/access.ts';
import { transferShape } from '../transfers/schema.ts';
import { presentTransfer, type Transfer } from '../transfers/transfer.ts';
import { endCommand, failedByRail, type OutcomeTables } from '../withdrawals/outcome.ts';
import { paymentOf } from '../withdrawals/transitions.ts';
import { COMPLETED_WITHDRAWAL, FAILED_WITHDRAWAL } from './examples.ts';
import type { SimulatedRails } from './simulated.ts';

export type OutcomeDependencies = {
  readonly writePath: WritePath;
  readonly networks: Networks;
  readonly simulated: SimulatedRails;
  readonly transfers: Pick<TransferAccess, 'find'>;
  readonly withdrawals: {
    readonly progress: OutcomeTables;
    railOf(transferId: string): Promise<string | undefined>;
  };
};

export function finalProblem({ id, status }: Pick<Transfer, 'id' | 'status'>): Problem {
  return new Problem('invalid-state', `Transfer ${id} is ${status}.`, { status });
}

/**
 * The user decides what the simulated rail answers. The rail records it before the ledger does, so that both agree even if
 * the process ends in between: the worker asks the rail, and gets the same outcome.
 */
function createDecision({ writePath, simulated, transfers, withdrawals }: OutcomeDependencies) {
  const tables = withdrawals.progress;
  return async (caller: Caller, id: string, outcome: 'completed' | 'failed') => {
    const transfer = await transfers.find(caller.customerId, id);
    if (transfer === undefined) throw notFound('transfer', id);
    const rail = await withdrawals.railOf(id);
    if (transfer.status !== 'PENDING' || rail === undefined) throw finalProblem(transfer);
    const payment = {
      ...paymentOf(transfer, undefined, tables.assets),
      ...(transfer.fiatAccountId && {
        destination: { instructions: { id: transfer.fiatAccountId }, owner: {} },
      }),
    };
    if (simulated.find(rail) === undefined) {
      throw new Problem(
        'invalid-state',
        `The ${rail} rail is not simulated: it decides transfer ${id} itself.`,
        {
          status: transfer.status,
        },
      );
    }
    const state = await simulated.decide(rail as RailName, payment, outcome);
    if (state === undefined) {
      throw new Problem('invalid-state', `The rail has already ended the payment of transfer ${id}.`, {
        status: transfer.status,
      });
    }
    const ending =
      state.kind === 'completed' ? state : failedByRail(rail, { reason: 'You failed the payment.' });
    const ended = await writePath.submit(
      endCommand(transfer, { rail, ending, actor: actorOf(caller) }, tables),
    );
    if (ended.replayed) throw new Error('a command without a key cannot be a replay');
    if (ended.answer.effect === 'contradiction') throw finalProblem(ended.answer.transfer);
    return { body: presentTransfer(ended.answer.transfer, tables.assets) as never };
  };
}

export function sandboxOutcomeRoutes(dependencies: OutcomeDependencies): Route[] {
  const decide = createDecision(dependencies);
  const common = {
    method: 'POST',
    tag: 'Sandbox',
    scope: 'sandbox:simulate',
    sandboxOnly: true,
    params: IdParams,
    response: transferShape(dependencies.networks),
    problems: ['not-found', 'invalid-state'],
  } as const;
  return [
    route({
      ...common,
      path: '/v2/sandbox/transfers/{id}/complete',
      operationId: 'simulateTransferCompletion',
      summary: 'Complete a pending withdrawal',
      answer: COMPLETED_WITHDRAWAL,
      handle: ({ caller, params }) => decide(caller, params.id, 'completed'),
    }),
    route({
      ...common,
      path: '/v2/sandbox/transfers/{id}/fail',
      operationId: 'simulateTransferFailure',
      summary: 'Fail a pending withdrawal; the full total is returned',
      answer: FAILED_WITHDRAWAL,
      handle: ({ caller, params }) => decide(caller, params.id, 'failed'),
    }),
  ];
}
