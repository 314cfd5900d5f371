import type { FieldError } from '../kernel/problem.ts';

const TRANSFER_TYPES = [
  'internal_transfer_debit',
  'internal_transfer_credit',
  'platform_transfer_debit',
  'platform_transfer_credit',
  ...['crypto', 'wire', 'sen', 'bank', 'signet', 'cbit', 'cubix'].flatMap((way) => [
    `${way}_deposit`,
    `${way}_withdrawal`,
  ]),
];

/**
 * What kinds of events there are, by the first word of their type. Capabilities name their own events; they are written
 * down here once more because a filter is read before anybody knows whose events it is for.
 */
const NAMES_BY_FAMILY: Readonly<Record<string, readonly string[]>> = {
  transfer: TRANSFER_TYPES.flatMap((type) =>
    ['pending', 'completed', 'failed'].map((status) => `${type}.${status}`),
  ),
  settlement: ['pending', 'affirmed', 'settled', 'expired', 'cancelled'].map((one) => `transaction.${one}`),
  fiat_account: ['pending', 'approved', 'rejected', 'deleted'],
  account_member: ['added', 'removed'],
  webhook_endpoint: ['disabled', 'test'],
};
const EVENT_FAMILIES = Object.keys(NAMES_BY_FAMILY);

export const EVENT_TYPES: readonly string[] = Object.entries(NAMES_BY_FAMILY).flatMap(([family, names]) =>
  names.map((name) => `${family}.${name}`),
);

export const EVENT_TYPE_PATTERN = '^(\\*|[a-z0-9_]+(\\.([a-z0-9_]+|\\*))*)$';

/** Sent to one endpoint on demand; no filter finds it for another one. */
export const TEST_EVENT = 'webhook_endpoint.test';
export const DISABLED_EVENT = 'webhook_endpoint.disabled';

function typeFault(filter: string): string | undefined {
  const pattern = typePattern(filter);
  if (EVENT_TYPES.some((type) => pattern.test(type))) return undefined;
  const family = filter.split('.', 1)[0]!;
  return EVENT_FAMILIES.includes(family)
    ? `matches no type of event; there is ${family}.*, and ${family}.${NAMES_BY_FAMILY[family]![0]!} for example`
    : `must begin with one of ${EVENT_FAMILIES.join(', ')}, not with "${family}", or be *`;
}

/** What matches no type of event is a typing error, and would silently wait for ever. */
export function typeFaults(pointer: string, types: readonly string[] | undefined): FieldError[] {
  return (types ?? []).flatMap((type, index) => {
    const message = typeFault(type);
    return message === undefined ? [] : [{ pointer: `${pointer}/${index}`, message }];
  });
}

/** A filter as a pattern: `*` stands for any text, everything else for itself. */
export function typePattern(filter: string): RegExp {
  return new RegExp(`^${filter.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
}

/** The same in SQL's words. */
export function likePattern(pattern: string): string {
  return pattern.replaceAll('_', '\\_').replaceAll('*', '%');
}
