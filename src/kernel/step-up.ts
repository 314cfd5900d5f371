import { Problem } from './problem.ts';
import type { Caller } from './route.ts';

/**
 * Step-up: a session lasts for hours, but before a sensitive operation the person proves again who they are, with a passkey or
 * at the OpenID provider. A client proves it with every token, and has nothing to step up.
 */
export function stepUpProblem(maxAgeMs: number, ageMs: number): Problem {
  const [maxSeconds, seconds] = [Math.floor(maxAgeMs / 1_000), Math.floor(ageMs / 1_000)];
  return new Problem(
    'step-up-required',
    `This requires that you proved who you are within the last ${maxSeconds} seconds, and it was ${seconds} seconds ago. Nothing was executed.`,
    { max_age_seconds: maxSeconds, age_seconds: seconds },
  );
}

export function requireStepUp({ person }: Pick<Caller, 'person'>, maxAgeMs: number): void {
  if (person !== undefined && person.authenticatedAgoMs > maxAgeMs)
    throw stepUpProblem(maxAgeMs, person.authenticatedAgoMs);
}
