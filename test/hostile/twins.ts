import { isIdSchema, propertiesOf, withField } from '../support/openapi.ts';
import { bodyFor, chosenIds, kindOf, pathIdsOf, pathWith, recordOf } from './bases.ts';
import { type Choice, type Draft, isForOperators, type Planning, requestOf } from './drafts.ts';
import type { Random } from './random.ts';
import type { Request } from './requests.ts';
import { hostileAmount, hostileText, jsonText } from './values.ts';

/**
 * Two requests that differ in one id only: it belongs to another customer, in any state that a record can have, or to
 * nobody. What else is wrong with them is the same.
 */
type Twins = {
  readonly request: Request;
  readonly twin: Request;
  readonly id: string;
  readonly twinId: string;
};

/** Fields that may name a record of anybody: only for records that are hidden from others they must not tell. */
const ANYBODYS: Readonly<Record<string, string>> = {
  'createPlatformTransfer to_profile_id': 'profiles',
  'createSettlementTransaction target_profile_id': 'profiles',
};

/** Accepted whatever they name, so that nobody learns anything from them. */
const ANYTHING = ['setProfileIncoming'];

/** Answers 200 whatever becomes of each transfer, and those that the first request executed are replays in its twin. */
const BULK = 'createPlatformTransfers';

/** Something else is wrong as well: which of the two is answered must not depend on the id either. */
function disturbed(body: any, random: Random): any {
  const names = Object.keys(body).filter((name) => typeof body[name] === 'string' && !name.endsWith('_id'));
  if (names.length === 0 || random.chance(0.6)) return body;
  const name = random.pick(names);
  return {
    ...body,
    [name]: name === 'amount' ? random.pick(['999999999999', hostileAmount(random)]) : hostileText(random),
  };
}

function inPath(
  { operation, random, ...choice }: Choice,
  planning: Planning,
  mayDisturb = true,
): Twins | undefined {
  const ids = pathIdsOf(operation);
  if (ids.length === 0) return undefined;
  const { name, kind } = random.pick(ids);
  const own = chosenIds(operation, planning.world.caller, random);
  const id = recordOf(planning.world.victim.records, kind, random);
  const twinId = random.idLike(id);
  const valid = operation.body === undefined ? undefined : bodyFor(operation, planning.world.caller, random);
  const body =
    valid === undefined ? undefined : Buffer.from(jsonText(mayDisturb ? disturbed(valid, random) : valid));
  const request = (chosen: string): Request =>
    requestOf({ operation, random, ...choice }, planning, {
      path: pathWith(operation, { ...own, [name]: chosen }),
      ...(body && { body }),
    });
  return { request: request(id), twin: request(twinId), id, twinId };
}

function inBody({ operation, random, ...choice }: Choice, planning: Planning): Twins | undefined {
  const { world } = planning;
  const fields = propertiesOf(operation.body?.schema).filter(
    (one) => isIdSchema(one.schema) && typeof one.path.at(-1) === 'string',
  );
  if (fields.length === 0) return undefined;
  const { path } = random.pick(fields);
  const field = String(path.at(-1));
  const hidden = ANYBODYS[`${operation.id} ${field}`];
  const kind = hidden ?? kindOf(field, operation);
  const id = recordOf(hidden === undefined ? world.victim.records : world.hidden, kind, random);
  const twinId = random.idLike(id);
  const base = disturbed(bodyFor(operation, world.caller, random), random);
  const holder = path.slice(0, -1).reduce((inner: any, part) => inner?.[part], base);
  if (holder === undefined || holder === null) return undefined;
  const url = pathWith(operation, chosenIds(operation, world.caller, random));
  const request = (chosen: string): Request =>
    requestOf({ operation, random, ...choice }, planning, {
      path: url,
      body: Buffer.from(jsonText(withField(base, path, chosen))),
    });
  return { request: request(id), twin: request(twinId), id, twinId };
}

/** To a profile of the victim, for an end user of the victim who is disabled: the sender must not learn that. */
function toHiddenUser({ operation, random, ...choice }: Choice, planning: Planning): Twins | undefined {
  if (operation.id !== 'createPlatformTransfer' || random.chance(0.5)) return undefined;
  const { world } = planning;
  const base = {
    ...bodyFor(operation, world.caller, random),
    to_profile_id: world.victim.belongings.fields.to_profile_id,
  };
  delete base.to_account_id;
  const id = random.pick(world.hidden.identities!);
  const twinId = random.idLike(id);
  const request = (chosen: string): Request =>
    requestOf({ operation, random, ...choice }, planning, {
      body: Buffer.from(jsonText({ ...base, to_identity_id: chosen })),
    });
  return { request: request(id), twin: request(twinId), id, twinId };
}

function inQuery({ operation, random, ...choice }: Choice, planning: Planning): Twins | undefined {
  const filters = operation.parameters.filter(
    (one) => one.in === 'query' && isIdSchema(one.schema.items ?? one.schema),
  );
  if (filters.length === 0) return undefined;
  const { name } = random.pick(filters);
  const id = recordOf(planning.world.victim.records, kindOf(name, operation), random);
  const twinId = random.idLike(id);
  const path = pathWith(operation, chosenIds(operation, planning.world.caller, random));
  const request = (chosen: string): Request =>
    requestOf({ operation, random, ...choice }, planning, { path, query: `${name}=${chosen}` });
  return { request: request(id), twin: request(twinId), id, twinId };
}

/** `wanted`: `path`, if the path has ids: then the id is all that is wrong. */
export function twinPlan(choice: Choice, planning: Planning, wanted?: string): Draft | undefined {
  const { operation, access } = choice;
  if (isForOperators(operation) || operation.id === BULK || access.refusedWith !== undefined)
    return undefined;
  const twins =
    (wanted === 'path' ? inPath(choice, planning, false) : undefined) ??
    toHiddenUser(choice, planning) ??
    choice.random.pick([inPath, inBody, inQuery])(choice, planning);
  if (twins === undefined) return undefined;
  const { request, twin, id, twinId } = twins;
  const mayBeAccepted = operation.method === 'GET' || ANYTHING.includes(operation.id);
  return {
    kind: 'foreign id',
    request,
    twin: { request: twin, id, twinId },
    expected: { refused: !mayBeAccepted, mayWrite: mayBeAccepted && operation.method !== 'GET' },
  };
}
