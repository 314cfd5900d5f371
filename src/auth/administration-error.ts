import { Problem, type ProblemSlug } from '../kernel/problem.ts';

/** A mistake in a change of customers and clients: one sentence for the command line, and a problem for callers of the API. */
export class AdministrationError extends Problem {
  constructor(detail: string, slug: ProblemSlug = 'invalid-state', meta: Record<string, unknown> = {}) {
    super(slug, detail, meta);
  }
}

/** What is wrong with a field of the request. */
export const fieldError = (pointer: string, detail: string): AdministrationError =>
  new AdministrationError(detail, 'invalid-request', { errors: [{ pointer, message: detail }] });

export const unknown = (resource: 'client' | 'customer' | 'person', id: string, by = 'id') =>
  new AdministrationError(`There is no ${resource} with the ${by} "${id}".`, 'not-found', { resource, id });
