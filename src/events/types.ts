import type { EventFamily, EventType } from '../kernel/event-types.ts';
import type { FieldError } from '../kernel/problem.ts';

export const EVENT_TYPE_PATTERN = '^(\\*|[a-z0-9_]+(\\.([a-z0-9_]+|\\*))*)$';

/** Every type of event that the capabilities of this service have declared; filters are checked against it. */
export type EventCatalogue = {
  readonly types: readonly EventType[];
  /** Errors for filters that match no type: such a filter is a typing error, and its events would never come. */
  faultsOf(pointer: string, filters: readonly string[] | undefined): FieldError[];
};

export function createEventCatalogue(declared: readonly EventFamily[]): EventCatalogue {
  const types = declared.flatMap((one) => Object.values(one.types));
  const families = [...new Set(declared.map(({ family }) => family))];

  function faultOf(filter: string): string | undefined {
    const pattern = typePattern(filter);
    if (types.some((type) => pattern.test(type))) return undefined;
    const family = filter.split('.', 1)[0]!;
    return families.includes(family)
      ? `matches no event type; valid are ${family}.* and, for example, ${types.find((type) => type.startsWith(`${family}.`))}`
      : `must be * or begin with one of ${families.join(', ')}, not with "${family}"`;
  }

  return {
    types,
    faultsOf: (pointer, filters = []) =>
      filters.flatMap((filter, index) => {
        const message = faultOf(filter);
        return message === undefined ? [] : [{ pointer: `${pointer}/${index}`, message }];
      }),
  };
}

/** A filter as a regular expression: `*` matches any text, everything else only itself. */
export function typePattern(filter: string): RegExp {
  return new RegExp(`^${filter.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
}

/** The same filter as an SQL LIKE pattern. */
export function likePattern(pattern: string): string {
  return pattern.replaceAll('_', '\\_').replaceAll('*', '%');
}
