import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';

export const BOOK_PROBLEMS: ProblemExamples = {
  'not-found': () => notFound('profile', EXAMPLE_IDS.profile),
};
