import type { Logger } from 'pino';
import type { Capability } from '../kernel/capability.ts';
import { repeat } from '../kernel/repeat.ts';
import { atMost, type Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import { ownRoutes } from './own-routes.ts';
import type { PolicySet } from './policy.ts';
import { POLICY_PROBLEMS } from './problem-examples.ts';
import { type PolicyParts, policyRoutes } from './routes.ts';
import { createScreen, type Screen, type ScreeningHook } from './screening.ts';
import { forgetUses, policySetOf } from './store.ts';

export type Policies = Capability & {
  /** For withdrawals. */
  readonly guards: {
    /** The policies in force for a customer. */
    policiesOf(customerId: string): Promise<PolicySet>;
    readonly screen: Screen;
  };
};

type Dependencies = Omit<PolicyParts, 'hooks'> & {
  readonly hooks: ReadonlyMap<string, ScreeningHook>;
  readonly works: boolean;
  readonly log: Pick<Logger, 'warn'>;
};

const KEPT_NS = BigInt(LIMITS.usesKeptDays) * 86_400_000_000_000n;

/** Deletes what no window and no dry run reads any more. */
function forgetter({ database, log }: Dependencies): Worker {
  const loop = repeat(
    LIMITS.usesForgetMs,
    async () =>
      (await forgetUses(database, KEPT_NS, LIMITS.usesForgottenMax)) >= LIMITS.usesForgottenMax
        ? 'again'
        : 'wait',
    (error) => log.warn({ err: error }, 'could not delete old uses of limits'),
  );
  return {
    name: 'uses of limits',
    stage: 'background',
    start: () => loop.start(),
    stop: () => atMost(LIMITS.workerStopMs, loop.stop()),
  };
}

/** Policies for withdrawals: limits, approvals, destinations, hours and screening. */
export function createPolicies(dependencies: Dependencies): Policies {
  const { database, clock, hooks, works } = dependencies;
  const { screen, close } = createScreen(hooks, clock.nowMs);
  const parts: PolicyParts = { ...dependencies, hooks: [...hooks.keys()] };
  const connections: Worker = {
    name: 'connections to screening hooks',
    stage: 'edge',
    start() {},
    stop: async () => close(),
  };
  return {
    name: 'policies',
    routes: [...policyRoutes(parts), ...ownRoutes(parts)],
    tags: { Policies: 'Limits, approvals and destinations for your own withdrawals.' },
    problemExamples: POLICY_PROBLEMS,
    workers: works ? [forgetter(dependencies), connections] : [connections],
    guards: { policiesOf: (customerId) => policySetOf(database, customerId), screen },
  };
}
