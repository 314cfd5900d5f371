import type { Instant } from '../kernel/instant.ts';
import { batchOf, lineOf } from './event.ts';
import type { PackedLine } from './pack.ts';
import { typePattern } from './types.ts';

/** Which events of the feed to read. */
export type FeedFilter = {
  readonly ids?: readonly string[] | undefined;
  readonly types?: readonly string[] | undefined;
  readonly notType?: string;
  readonly resourceIds?: readonly string[] | undefined;
  /** Batches of resources whose own rows name them (see `isOnly` in outbox.ts); `event_resources` has all others. */
  readonly batchesOf?: (resourceIds: readonly string[]) => Promise<readonly string[]>;
  readonly ranges?: readonly { readonly operator: string; readonly ns: Instant }[];
};

/** Whether events have to be checked one by one; otherwise all of them match. Ids are not considered. */
export function isFiltered({ types, notType, ranges = [] }: FeedFilter): boolean {
  return types !== undefined || notType !== undefined || ranges.length > 0;
}

/** No event earlier than one of these matches. */
export function lowerBounds({ ranges = [] }: FeedFilter): Instant[] {
  return ranges.filter(({ operator }) => !operator.startsWith('<')).map(({ ns }) => ns);
}

function isWithin(at: Instant, operator: string, ns: Instant): boolean {
  if (operator === '<') return at < ns;
  if (operator === '<=') return at <= ns;
  if (operator === '>') return at > ns;
  return operator === '>=' ? at >= ns : at === ns;
}

export type Fits = (line: PackedLine) => boolean;

/** Creates the test for the events of a batch. There are few types, and each is matched against the filter only once. */
export function createTest(filter: FeedFilter): (batchId: string) => Fits {
  const { ids, notType, ranges = [] } = filter;
  const patterns = filter.types?.map(typePattern);
  const resourceIds = filter.resourceIds && new Set(filter.resourceIds);
  const known = new Map<string, boolean>();
  const fitsType = (type: string): boolean => {
    let fits = known.get(type);
    if (fits === undefined) {
      fits = type !== notType && (patterns === undefined || patterns.some((pattern) => pattern.test(type)));
      known.set(type, fits);
    }
    return fits;
  };
  return (batchId) => {
    const lines = ids && new Set(ids.filter((id) => batchOf(id) === batchId).map(lineOf));
    return ({ line, type, resourceId, atNs }) =>
      (lines === undefined || lines.has(line)) &&
      (resourceIds === undefined || resourceIds.has(resourceId)) &&
      fitsType(type) &&
      ranges.every(({ operator, ns }) => isWithin(atNs, operator, ns));
  };
}
