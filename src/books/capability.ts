import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import { operatorBookRoutes } from './operator-routes.ts';
import { BOOK_PROBLEMS } from './problem-examples.ts';
import { type BookDependencies, bookRoutes } from './routes.ts';

/** Reading the books: entries, statements, and the trial balance. */
export function createBooks(dependencies: BookDependencies): Capability {
  return {
    name: 'books',
    routes: [...bookRoutes(dependencies), ...operatorBookRoutes(dependencies)],
    tags: OPERATOR_TAG,
    problemExamples: BOOK_PROBLEMS,
  };
}
