import type { Description, Operation } from '../support/openapi.ts';
import type { ChosenAccess } from './access.ts';
import { bodyFor, chosenIds, jsonHeaders, pathWith } from './bases.ts';
import type { Random } from './random.ts';
import type { Expectation, Plan, Request } from './requests.ts';
import { jsonText } from './values.ts';
import type { World } from './world.ts';

export type Planning = {
  readonly description: Description;
  readonly world: World;
  readonly host: string;
  readonly seed: number;
};

export type Choice = {
  readonly operation: Operation;
  readonly random: Random;
  readonly access: ChosenAccess;
};

/** A plan without its number and its operation. */
export type Draft = Omit<Plan, 'number' | 'operation' | 'access'> & { readonly access?: string };

export const isRead = ({ method }: Operation): boolean => method === 'GET';

/** Across customers by design. */
export const isForOperators = ({ scopes }: Operation): boolean =>
  scopes.some((scope) => scope.startsWith('operator:'));

/** The token endpoints. */
export const isForm = ({ body }: Operation): boolean => body?.mediaType.includes('form') === true;

/** `status`: of the refusal, if it is certain. */
export function expect({ operation, access }: Choice, status?: number | readonly number[]): Expectation {
  if (access.refusedWith !== undefined)
    return { refused: true, statuses: [access.refusedWith], access: access.refusedWith, mayWrite: false };
  if (status !== undefined) return { refused: true, statuses: [status].flat(), mayWrite: false };
  return { refused: false, mayWrite: !isRead(operation) };
}

/** For requests that are odd before anybody looks at their token. */
export function expectOdd({ operation, access }: Choice): Expectation {
  return access.refusedWith === undefined
    ? { refused: false, mayWrite: !isRead(operation) }
    : { refused: true, mayWrite: false };
}

export function requestOf(
  choice: Choice,
  { world }: Planning,
  changes: { path?: string; query?: string; body?: Buffer } = {},
): Request {
  const { operation, random, access } = choice;
  const path = changes.path ?? pathWith(operation, chosenIds(operation, world.caller, random));
  const body =
    changes.body ??
    (operation.body === undefined
      ? undefined
      : Buffer.from(jsonText(bodyFor(operation, world.caller, random))));
  return {
    method: operation.method,
    target: changes.query === undefined || changes.query === '' ? path : `${path}?${changes.query}`,
    headers: jsonHeaders(access.header, body !== undefined),
    ...(body === undefined ? {} : { body }),
  };
}
