import { exampleFor, isIdSchema, type Operation, pathFor } from '../support/openapi.ts';
import type { Header } from './headers.ts';
import type { Random } from './random.ts';
import { type Inhabitant, type Records, tomorrow, type World } from './world.ts';

/** Valid requests, which the mutations start from. */

/** The kind of record that a field or a filter names. */
export function kindOf(name: string, operation: Operation): string {
  const kinds: readonly (readonly [RegExp, string])[] = [
    [/fiat_account_ids?$/, 'fiat-accounts'],
    [/profile_ids?$/, 'profiles'],
    [/identity_ids?$/, 'identities'],
    [/account_ids?$/, 'accounts'],
    [/group_ids?$/, 'groups'],
    [/resource_ids?$/, 'transfers'],
    [/fee_id$/, 'fees'],
  ];
  const named = kinds.find(([pattern]) => pattern.test(name))?.[1];
  // `ids` filters a list by its own records.
  return named ?? operation.path.split('/').findLast((part) => !part.startsWith('{')) ?? '';
}

export function recordOf(records: Records, kind: string, random: Random): string {
  return random.pick(records[kind] ?? records.profiles!);
}

export type PathId = { readonly name: string; readonly kind: string };

export function pathIdsOf(operation: Operation): PathId[] {
  return operation.parameters
    .filter((one) => one.in === 'path' && isIdSchema(one.schema))
    .map(({ name }) => ({ name, kind: new RegExp(`/([^/{}]+)/\\{${name}\\}`).exec(operation.path)![1]! }));
}

/** The path with these ids, by the name of the parameter. */
export function pathWith(operation: Operation, ids: Readonly<Record<string, string>>): string {
  return operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => ids[name] ?? 'USD');
}

export function chosenIds(
  operation: Operation,
  { records }: Inhabitant,
  random: Random,
): Record<string, string> {
  const ids = pathIdsOf(operation);
  const hasDelivery = ids.some(({ kind }) => kind === 'deliveries');
  return Object.fromEntries(
    // The deliveries are those of the second endpoint.
    ids.map(({ name, kind }) => [
      name,
      hasDelivery && kind === 'webhooks' ? records.webhooks![1]! : recordOf(records, kind, random),
    ]),
  );
}

/** A body that the operation accepts, unless the state of a record does not allow it. */
export function bodyFor(operation: Operation, { belongings }: Inhabitant, random: Random): any {
  // Journal entries of each kind have their own fields: no request can have all of them.
  const canHaveEvery = operation.id !== 'bookJournalEntry';
  const body = exampleFor(operation, belongings, canHaveEvery && random.chance(0.2) ? 'every' : 'shown');
  const properties = operation.body!.schema.properties ?? {};
  if ('url' in properties)
    Object.assign(body, { url: 'http://127.0.0.1:9/', event_types: ['webhook_endpoint.disabled'] });
  if ('settlement_window_start' in properties) {
    body.settlement_window_start = tomorrow();
    delete body.settlement_window_end;
  }
  if ('nickname' in properties) body.nickname = `N${random.below(2 ** 31)}`;
  const isRequired: boolean = operation.body!.schema.required?.includes('ref_id') === true;
  // Sometimes that of the example, which has been used.
  if ('ref_id' in properties && random.chance(0.8)) {
    if (isRequired || random.chance(0.5)) body.ref_id = `ref-${random.below(2 ** 31)}`;
    else delete body.ref_id;
  }
  return body;
}

export const jsonHeaders = (authorization: string | undefined, hasBody: boolean): Header[] => [
  ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
  ...(hasBody ? [['Content-Type', 'application/json'] as const] : []),
];

/** Leads to new records, so that the request succeeds. */
export async function freshPath(operation: Operation, world: World): Promise<string> {
  if (operation.id === 'affirmSettlementTransaction')
    return operation.path.replace('{id}', await world.createAffirmable());
  return pathFor(operation, world.caller.belongings);
}
