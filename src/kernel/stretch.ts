import { INSTANT_MAX } from './instant.ts';
import type { Page, Place } from './paging.ts';

/** No row has one of these ids: a place with one of them is before, or after, all rows of its time. */
const ID_FIRST = '00000000-0000-0000-0000-000000000000';
const ID_LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The part of a list that a page can be in. */
export type Stretch = { readonly low: Place; readonly high: Place };

function later(one: Place, other: Place): Place {
  return one.ns > other.ns || (one.ns === other.ns && one.id > other.id) ? one : other;
}

function earlier(one: Place, other: Place): Place {
  return later(one, other) === one ? other : one;
}

/**
 * All that the page says about times, as the places between which its rows are: one lower and one upper bound, however
 * many there are, since an index scan begins at the first one that it is given and skips row by row to the next.
 * Nothing is changed before it is made, so times that the list is not ordered by bound it, too; of rows that never
 * change both times are the same. `end` is where to stop.
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
