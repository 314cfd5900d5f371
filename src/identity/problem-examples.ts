import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { answeredNotFound, type ProblemExamples, refIdTaken } from '../kernel/problem-examples.ts';
import type { Route } from '../kernel/route.ts';
import { ADDED_MEMBERS } from './examples.ts';
import { identityFault } from './rules.ts';

const { identity, account, customer } = EXAMPLE_IDS;

export function identityDisabled(): Problem {
  return identityFault(identity, { customerId: customer, status: 'DISABLED' }, customer)!;
}

function notFoundExample(route: Route): Problem {
  switch (route.operationId) {
    case 'getIdentity':
    case 'updateIdentity':
      return answeredNotFound(route, 'identity');
    case 'getAccount':
    case 'updateAccount':
      return answeredNotFound(route, 'account');
    case 'removeAccountMember':
      return answeredNotFound(route, 'account_member');
    case 'addAccountMembers':
      return notFound('account', account);
    default:
      return notFound('identity', identity);
  }
}

function memberExists(): Problem {
  const [existing] = ADDED_MEMBERS.members;
  const detail = `Identity ${identity} is already a member of the account, with the roles AUTHORIZED_USER.`;
  return new Problem('already-exists', detail, { existing, differs: ['roles'] });
}

export const IDENTITY_PROBLEMS: ProblemExamples = {
  forbidden: identityDisabled,
  'not-found': notFoundExample,
  'already-exists': (route) => {
    if (route.operationId === 'addAccountMembers') return memberExists();
    return refIdTaken(route, route.operationId === 'createAccount' ? 'create_profile' : 'person_details');
  },
};
