import type { Capability } from '../kernel/capability.ts';
import { amountTooPrecise } from '../kernel/problem-examples.ts';
import { type FeeDependencies, feeRoutes } from './routes.ts';

/** What withdrawals cost: the operator's schedule, and guaranteed fees. */
export function createFees(dependencies: FeeDependencies): Capability {
  return {
    name: 'fees',
    routes: feeRoutes(dependencies),
    tags: {
      Fees: 'What withdrawals and deposits cost; the fee of a crypto withdrawal can be fixed before it is created.',
    },
    problemExamples: { 'exceeds-precision': amountTooPrecise },
  };
}
