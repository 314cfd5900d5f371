import { openItems } from '../support/books.ts';
import { type Operation, withDigest } from '../support/openapi.ts';
import { chooseAccess, fullAccess, lackingAccess, refusedAccess } from './access.ts';
import { bodyFor, freshPath } from './bases.ts';
import { BODY_MUTATIONS } from './bodies.ts';
import { type Choice, type Draft, expect, isForm, type Planning, requestOf } from './drafts.ts';
import {
  type Family,
  fromSchema,
  inBody,
  inHeaders,
  inMethod,
  inPath,
  inQuery,
  inTransport,
  unexpectedBody,
} from './families.ts';
import { formRequest, refusedFormRequest, validFormRequest } from './forms.ts';
import { HEADER_MUTATIONS } from './headers.ts';
import { PATH_MUTATIONS } from './paths.ts';
import { QUERY_MUTATIONS } from './queries.ts';
import { createRandom, pickWeighted, type Random } from './random.ts';
import type { Plan } from './requests.ts';
import { TRANSPORT_KINDS } from './transport.ts';
import { twinPlan } from './twins.ts';
import { jsonText } from './values.ts';
import type { World } from './world.ts';

const FAMILIES: readonly (readonly [Family, number])[] = [
  [inBody, 60],
  [fromSchema, 20],
  [unexpectedBody, 3],
  [inQuery, 14],
  [inPath, 7],
  [inHeaders, 8],
  [inTransport, 7],
  [inMethod, 3],
  [twinPlan, 14],
];
/** The token endpoints have mutations of their own. */
const FORM_FAMILIES: typeof FAMILIES = [
  [inTransport, 1],
  [inMethod, 1],
];
/** Mutations of what is looked at only after the token was. */
const ACCESS_FAMILIES: typeof FAMILIES = [
  [inBody, 1],
  [inQuery, 1],
];
const twinOfPath: Family = (choice, planning) => twinPlan(choice, planning, 'path');
const unknownParameter: Family = (choice, planning) => inQuery(choice, planning, 'unknown parameter');
/**
 * The first rounds through all operations, so that each of them gets each kind of answer whatever the seed is: valid, without the
 * scope, without a valid token, with the id of another customer, with a parameter that no operation has.
 */
const FIRST_FAMILIES: readonly (typeof FAMILIES | undefined)[] = [
  undefined,
  ACCESS_FAMILIES,
  ACCESS_FAMILIES,
  [[twinOfPath, 1]],
  [[unknownParameter, 1]],
];

const times = (count: number, family: Family, kinds: readonly (string | undefined)[]) =>
  kinds.flatMap((kind) => Array.from({ length: count }, () => [family, kind] as const));
/** After them every kind of mutation, on an operation that it applies to. All later requests are mixed. */
const EVERY_KIND: readonly (readonly [Family, string | undefined])[] = [
  ...times(3, inBody, Object.keys(BODY_MUTATIONS)),
  ...times(3, inQuery, Object.keys(QUERY_MUTATIONS)),
  ...times(3, inPath, Object.keys(PATH_MUTATIONS)),
  ...times(3, inHeaders, Object.keys(HEADER_MUTATIONS)),
  ...times(3, inMethod, [undefined]),
  ...times(1, inTransport, TRANSPORT_KINDS),
];

/** The number of the first request that the seed alone chooses. */
export const firstMixed = ({ description }: Pick<Planning, 'description'>): number =>
  FIRST_FAMILIES.length * description.operations.length + EVERY_KIND.length;

/** A mutation may not apply to an operation; most of them do. */
const ATTEMPTS_MAX = 100;
const ATTEMPTS_PER_OPERATION = 20;

function draftOf(choice: Choice, planning: Planning, families: typeof FAMILIES): Draft | undefined {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const draft = pickWeighted(choice.random, families)(choice, planning);
    // Refused before anybody looks at the token.
    const isTooEarly = families === ACCESS_FAMILIES && draft?.kind === 'huge query';
    if (draft !== undefined && !isTooEarly) return draft;
  }
  return undefined;
}

/** The first operation, from a random one on, to which the wanted kind applies. */
function planOfKind(index: number, number: number, planning: Planning, random: Random): Plan {
  const [family, wanted] = EVERY_KIND[index]!;
  const { operations } = planning.description;
  const start = random.below(operations.length);
  for (const operation of [...operations.slice(start), ...operations.slice(0, start)]) {
    if (isForm(operation)) continue;
    const { access } = accessFor(FIRST_FAMILIES.length, operation, planning.world, random);
    const choice: Choice = { operation, random, access };
    for (let attempt = 0; attempt < ATTEMPTS_PER_OPERATION; attempt += 1) {
      const draft = family(choice, planning, wanted);
      if (draft !== undefined) return { number, operation, access: access.name, ...draft };
    }
  }
  throw new Error(`the mutation ${wanted} applies to no operation`);
}

function hostileDraft(choice: Choice, planning: Planning, round: number): Draft {
  const first = isForm(choice.operation) ? FORM_FAMILIES : FIRST_FAMILIES[round];
  const draft = (first && draftOf(choice, planning, first)) ?? draftOf(choice, planning, FAMILIES);
  if (draft === undefined) throw new Error(`no mutation applies to ${choice.operation.id}`);
  return draft;
}

async function validDraft(choice: Choice, planning: Planning): Promise<Draft> {
  const { operation } = choice;
  const kind = 'valid';
  if (isForm(operation))
    return {
      kind,
      request: validFormRequest(operation, planning.world),
      expected: { refused: false, statuses: [200], mayWrite: false },
    };
  const path = operation.scopes.length === 0 ? operation.path : await freshPath(operation, planning.world);
  const { belongings } = planning.world.caller;
  const items = operation.id === 'matchItems' ? { item_ids: await openItems(belongings.customer) } : {};
  const body =
    operation.body === undefined
      ? undefined
      : {
          ...(await withDigest(
            operation,
            belongings,
            path,
            bodyFor(operation, planning.world.caller, choice.random),
          )),
          ...items,
        };
  const request = requestOf(choice, planning, {
    path,
    ...(body !== undefined && { body: Buffer.from(jsonText(body)) }),
  });
  return { kind, request, expected: expect(choice) };
}

/** Rare, because each of them needs new records. */
const VALID_SHARE = 0.01;

/** They need a token, and no scope. */
const FOR_EVERY_CALLER = ['getMe'];

function accessFor(round: number, { id, scopes }: Operation, { access }: World, random: Random) {
  const isFirst = round < FIRST_FAMILIES.length;
  const isValid = round === 0 || (!isFirst && random.chance(VALID_SHARE));
  if (FOR_EVERY_CALLER.includes(id))
    return { isValid, access: !isValid && round === 2 ? refusedAccess(access, random) : fullAccess(access) };
  if (scopes.length === 0) return { isValid, access: { name: 'no access needed', header: undefined } };
  // Another customer's id and an unknown parameter are looked at only after a sufficient token.
  if (isValid || round === 3 || round === 4) return { isValid, access: fullAccess(access) };
  if (round === 1) return { isValid, access: lackingAccess(access, scopes, random) };
  return {
    isValid,
    access: round === 2 ? refusedAccess(access, random) : chooseAccess(access, scopes, random),
  };
}

/**
 * The request with this number: the operations take turns, and everything else is chosen by the seed, apart from what the first
 * requests are for.
 */
export async function planOf(number: number, planning: Planning): Promise<Plan> {
  const { description, world, seed } = planning;
  const random = createRandom(seed, number);
  const ofKind = number - FIRST_FAMILIES.length * description.operations.length;
  if (ofKind >= 0 && ofKind < EVERY_KIND.length) return planOfKind(ofKind, number, planning, random);
  const operation = description.operations[number % description.operations.length]!;
  const round = Math.floor(number / description.operations.length);
  const { isValid, access } = accessFor(round, operation, world, random);
  const choice: Choice = { operation, random, access };
  const common = { number, operation, access: access.name };
  if (isValid) return { ...common, ...(await validDraft(choice, planning)) };
  if (isForm(operation) && round === 4)
    return {
      ...common,
      kind: 'form without a field',
      request: refusedFormRequest(operation, world),
      expected: { refused: true, statuses: [400], mayWrite: false },
    };
  if (!isForm(operation) || random.chance(0.2))
    return { ...common, ...hostileDraft(choice, planning, round) };
  const { request, kind } = formRequest(operation, world, random);
  return { ...common, kind, request, expected: { refused: false, mayWrite: false } };
}
