import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import { type SearchDependencies, searchRoute } from './routes.ts';

/** Finds things of all customers, for operators. */
export function createSearch(dependencies: SearchDependencies): Capability {
  return { name: 'search', routes: [searchRoute(dependencies)], tags: OPERATOR_TAG };
}
