import { INSTANT_MAX, type Instant } from './instant.ts';
import type { Page, Place } from './paging.ts';

/** No row has one of these ids, so a place with one of them is before, or after, all rows of the same time. */
const ID_FIRST = '00000000-0000-0000-0000-000000000000';
const ID_LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The part of a list in which the rows of a page are. */
export type Stretch = { readonly low: Place; readonly high: Place };

function later(one: Place, other: Place): Place {
  return one.ns > other.ns || (one.ns === other.ns && one.id > other.id) ? one : other;
}

function earlier(one: Place, other: Place): Place {
  return later(one, other) === one ? other : one;
}

/**
 * Combines all time filters, the cursor and `end` (where to stop) into one lower and one upper bound. With several bounds,
 * an index scan would start at the first one and skip rows up to the next. Times that the list is not ordered by bound it
 * as well, because updated_at is never before created_at, and rows that never change have the same value in both.
 */
export function stretchOf(page: Page, neverChanges: boolean, end: Place | undefined): Stretch {
  let low: Place = { ns: -INSTANT_MAX, id: ID_FIRST };
  let high: Place = { ns: INSTANT_MAX, id: ID_LAST };
  for (const { column, operator, ns } of page.ranges) {
    const isOrdered = column === page.orderBy || neverChanges;
    const isUpper = operator !== '>' && operator !== '>=';
    const isLower = operator !== '<' && operator !== '<=';
    if (isLower && (isOrdered || column === 'created_at'))
      low = later(low, { ns, id: operator === '>' ? ID_LAST : ID_FIRST });
    if (isUpper && (isOrdered || column === 'updated_at'))
      high = earlier(high, { ns, id: operator === '<' ? ID_FIRST : ID_LAST });
  }
  const [from, to] = page.descending ? [end, page.after] : [page.after, end];
  return {
    low: from === undefined ? low : later(low, from),
    high: to === undefined ? high : earlier(high, to),
  };
}

/** The first and the last instant that the time filters allow, for rows that never change. */
export function instantsOf({ ranges }: Pick<Page, 'ranges'>): {
  readonly first: Instant;
  readonly last: Instant;
} {
  let [first, last] = [-INSTANT_MAX, INSTANT_MAX];
  for (const { operator, ns } of ranges) {
    // No row has one of the two ends of the type, which have no neighbour on one side.
    const lowest = operator === '>' && ns < INSTANT_MAX ? ns + 1n : ns;
    const highest = operator === '<' && ns > -INSTANT_MAX ? ns - 1n : ns;
    if (!operator.startsWith('<') && lowest > first) first = lowest;
    if (!operator.startsWith('>') && highest < last) last = highest;
  }
  return { first, last };
}
