import { useLocation, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { CONSOLE } from './base.ts';
import type { Search } from './screen.ts';
import { customerOf, stringifySearch, targetOf } from './target.ts';

/** The part of the address after `?`, as `search` of the screen has checked it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the screen knows what it has checked
export const useScreenSearch = <Shape extends Search>(): Shape =>
  useSearch({ strict: false, select: known as never, structuralSharing: true }) as Shape;

const known = (search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the screen knows its path
export const useScreenParams = <Shape extends Record<string, string>>(): Shape =>
  useParams({ strict: false }) as Shape;

/** Replaces what the address says after `?`; the customer that is looked at stays. */
export function useSetSearch(): (next: Search, options?: { readonly replace?: boolean }) => void {
  const { navigate, state } = useRouter();
  const { pathname } = useLocation();
  return useCallback(
    (next, { replace = true } = {}) => {
      const search = { ...next, ...customerOf(state.location.search as Search) };
      void navigate({ to: pathname, search, replace });
    },
    [navigate, pathname, state],
  );
}

/** Opens a path below /console, such as `/transfers?statuses=PENDING`. */
export function useGo(): (path: string) => void {
  const router = useRouter();
  return useCallback(
    (path) => void router.navigate(targetOf(path, router.state.location.search as Search)),
    [router],
  );
}

/** The address of a path below /console: for a list with very many links, which `Link` is too expensive for. */
export function useHref(): (path: string) => string {
  const { search } = useLocation();
  return (path) => {
    const target = targetOf(path, search as Search);
    return CONSOLE + target.to + stringifySearch(target.search);
  };
}

/** Loads the code of a view before somebody opens it. */
export function usePreload(): (path: string) => void {
  const router = useRouter();
  return (path) => void router.preloadRoute(targetOf(path, router.state.location.search as Search));
}
