import type { Capability } from '../kernel/capability.ts';
import { amountTooPrecise } from '../kernel/problem-examples.ts';
import { type FeeDependencies, feeRoutes } from './routes.ts';

/** What withdrawals cost: the operator's schedule, and guaranteed fees. */
export function createFees(dependencies: FeeDependencies): Capability {
  return {
    name: 'fees',
    routes: feeRoutes(dependencies),
    tags: { Fees: 'What a crypto withdrawal costs, fixed before it is created.' },
    problemExamples: { 'exceeds-precision': amountTooPrecise },
  };
}
