import { notFound } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';
import { NEW_PERSON, PERSON } from './examples.ts';
import { disabledProblem, emailTaken, ownPersonProblem, tooManyPeople } from './rules.ts';

export const PEOPLE_PROBLEMS: ProblemExamples = {
  forbidden: (route) => (route.operationId === 'createPerson' ? tooManyPeople() : ownPersonProblem()),
  'not-found': (route) =>
    route.operationId === 'createPerson'
      ? notFound('customer', PERSON.customer_id!)
      : notFound('person', PERSON.id),
  'already-exists': () => emailTaken(NEW_PERSON.email),
  'invalid-state': () => disabledProblem(PERSON),
};
