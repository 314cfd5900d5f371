import type { FieldError } from '../kernel/problem.ts';

/** What kinds of events there are, by the first word of their type, and how a filter names them. */
export const EVENT_FAMILIES = [
  'transfer',
  'settlement',
  'fiat_account',
  'account_member',
  'webhook_endpoint',
] as const;

export const EVENT_TYPE_PATTERN = '^(\\*|[a-z0-9_]+(\\.([a-z0-9_]+|\\*))*)$';

/** Sent to one endpoint on demand; no filter finds it for another one. */
export const TEST_EVENT = 'webhook_endpoint.test';
export const DISABLED_EVENT = 'webhook_endpoint.disabled';

function unknownFamily(pattern: string): string | undefined {
  const family = pattern.split('.', 1)[0]!;
  return family === '*' || (EVENT_FAMILIES as readonly string[]).includes(family) ? undefined : family;
}

/** A word that begins no type of event is a typing error, and would silently wait for ever. */
export function typeFaults(pointer: string, types: readonly string[] | undefined): FieldError[] {
  return (types ?? []).flatMap((type, index) => {
    const family = unknownFamily(type);
    if (family === undefined) return [];
    const message = `must begin with one of ${EVENT_FAMILIES.join(', ')}, not with "${family}", or be *`;
    return [{ pointer: `${pointer}/${index}`, message }];
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
