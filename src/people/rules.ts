import { type FieldError, Problem } from '../kernel/problem.ts';
import { EMAIL_PATTERN, patternMeaning } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import type { Person } from './person.ts';

const EMAIL = new RegExp(EMAIL_PATTERN, 'u');
/** Controls, and characters that nobody sees or that are not assigned. The patterns of the schemas have only the usual ones. */
const INVISIBLE = /\p{C}/u;
const LABEL = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u;

export function labelFault(text: string, lengthMax: number): string | undefined {
  return text.length <= lengthMax && LABEL.test(text)
    ? undefined
    : `must have 1 to ${lengthMax} printable characters, without leading or trailing space`;
}

/** What is wrong with a new or changed person. */
export function personFaults({ name, email }: { name?: string; email?: string }): FieldError[] {
  const faults: FieldError[] = [];
  const fault = name === undefined ? undefined : labelFault(name, LIMITS.personNameLengthMax);
  if (fault !== undefined) faults.push({ pointer: '/name', message: fault });
  if (
    email !== undefined &&
    (email.length > LIMITS.emailLengthMax || !EMAIL.test(email) || INVISIBLE.test(email))
  )
    faults.push({ pointer: '/email', message: `must ${patternMeaning(EMAIL_PATTERN)}` });
  return faults;
}

export function disabledProblem({ id }: Pick<Person, 'id'>): Problem {
  return new Problem('invalid-state', `The person ${id} is disabled.`, { status: 'DISABLED' });
}

export function otherAccountProblem({ id }: Pick<Person, 'id'>): Problem {
  return new Problem('invalid-state', `The person ${id} has another account at the OpenID provider.`, {
    status: 'BOUND',
  });
}

/** An administrator who could give themselves a role would need no second person for anything. */
export function ownPersonProblem(): Problem {
  return new Problem(
    'forbidden',
    'You cannot change your own roles or disable yourself. Ask another administrator.',
  );
}

export function emailTaken(email: string): Problem {
  return new Problem('already-exists', `A person with the email ${email} exists already.`, {
    differs: ['email'],
  });
}

export function tooManyPeople(): Problem {
  return new Problem('forbidden', `There are ${LIMITS.peopleMax} people, which is the maximum.`);
}

/** Without a passkey and without a link, a person cannot sign in any more. */
export function lastPasskeyProblem(): Problem {
  return new Problem(
    'invalid-state',
    'This is your last passkey. Add another one first, or ask an administrator for an enrolment link.',
    { status: 'LAST_PASSKEY' },
  );
}

export function tooManyPasskeys(): Problem {
  return new Problem('forbidden', `You have ${LIMITS.passkeysMax} passkeys, which is the maximum.`);
}
