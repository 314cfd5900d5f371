import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useRef } from 'react';

type Page<Item> = { readonly items: readonly Item[]; readonly next_page_cursor?: string | undefined };

/**
 * A page as it is kept: one text. As objects, 100,000 rows are some million small strings, and the garbage collector stops the
 * page for longer than a frame to visit them. Only pages in the window are parsed.
 */
type PackedPage = { readonly text: string; readonly count: number; readonly next: string | undefined };

/** The window can touch two pages; the first one is used for the widths of columns. */
const PARSED_MAX = 4;

export type Pages<Item> = {
  /** Rows that are loaded. */
  readonly count: number;
  /** One of them. The function changes with every page that is loaded. */
  readonly at: (index: number) => Item | undefined;
  /** The rows of the first page. */
  readonly first: readonly Item[];
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly hasMore: boolean;
  readonly error: unknown;
  loadMore(): void;
  /** From the first page on. */
  refresh(): void;
};

/** Parses pages, and remembers the last few. */
function useParsed(): (page: PackedPage) => readonly unknown[] {
  const parsed = useRef(new Map<PackedPage, readonly unknown[]>());
  return useCallback((page) => {
    const items = parsed.current.get(page) ?? (JSON.parse(page.text) as unknown[]);
    parsed.current.delete(page);
    parsed.current.set(page, items);
    if (parsed.current.size > PARSED_MAX) parsed.current.delete(parsed.current.keys().next().value!);
    return items;
  }, []);
}

/** The number of rows up to the end of each page. */
function endsOf(pages: readonly PackedPage[]): readonly number[] {
  let end = 0;
  return pages.map(({ count }) => {
    end += count;
    return end;
  });
}

/** The first page that ends after `index`. There may be a thousand, and every row in the window is looked for. */
function placeOf(ends: readonly number[], index: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! > index) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A list of the interface, page by page: `usePages(['transfers', filter], (page_cursor) => ferry.listTransfers({ …filter, page_cursor }))`. */
export function usePages<Item>(
  key: readonly unknown[],
  read: (cursor: { page_cursor?: string }, signal: AbortSignal) => Promise<Page<Item>>,
): Pages<Item> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }): Promise<PackedPage> => {
      const page = await read(pageParam === '' ? {} : { page_cursor: pageParam }, signal);
      return { text: JSON.stringify(page.items), count: page.items.length, next: page.next_page_cursor };
    },
    initialPageParam: '',
    getNextPageParam: ({ next }: PackedPage) => next,
    // A thousand pages: neither compared with what was there, nor all read again when the window gets the focus.
    structuralSharing: false,
    refetchOnWindowFocus: (one) => one.state.data === undefined || one.state.data.pages.length === 1,
  });
  const itemsOf = useParsed() as (page: PackedPage) => readonly Item[];
  const pages = query.data?.pages;
  const ends = useMemo(() => endsOf(pages ?? []), [pages]);
  const at = useCallback(
    (index: number): Item | undefined => {
      const place = placeOf(ends, index);
      const page = pages?.[place];
      return page && itemsOf(page)[index - ends[place]! + page.count];
    },
    [pages, ends, itemsOf],
  );
  const firstPage = pages?.[0];
  return {
    count: ends.at(-1) ?? 0,
    at,
    first: useMemo(() => (firstPage === undefined ? [] : itemsOf(firstPage)), [firstPage, itemsOf]),
    isLoading: query.isPending,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    error: query.error,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
    refresh: () => void query.refetch(),
  };
}
