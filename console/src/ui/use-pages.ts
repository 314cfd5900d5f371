import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

type Page<Item> = { readonly items: readonly Item[]; readonly next_page_cursor?: string | undefined };

export type Pages<Item> = {
  readonly items: readonly Item[];
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly hasMore: boolean;
  readonly error: unknown;
  loadMore(): void;
  /** From the first page on. */
  refresh(): void;
};

/** A list of the interface, page by page: `usePages(['transfers', filter], (page_cursor) => ferry.listTransfers({ …filter, page_cursor }))`. */
export function usePages<Item>(
  key: readonly unknown[],
  read: (cursor: { page_cursor?: string }, signal: AbortSignal) => Promise<Page<Item>>,
): Pages<Item> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam === '' ? {} : { page_cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_page_cursor: cursor }: Page<Item>) => cursor,
    // A thousand pages: neither compared with what was there, nor all read again when the window gets the focus.
    structuralSharing: false,
    refetchOnWindowFocus: (one) => one.state.data === undefined || one.state.data.pages.length === 1,
  });
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  return {
    items,
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
