import type { Answer } from '@ferry/client';
import { useSuspenseQuery } from '@tanstack/react-query';
import { ferry } from './api.ts';

export type Me = Answer<'getMe'>;

export const meQuery = {
  queryKey: ['me'],
  queryFn: () => ferry.getMe(),
  staleTime: 60_000,
} as const;

/** Who is signed in. Below the shell it is always there. */
export const useMe = (): Me => useSuspenseQuery(meQuery).data;

/** People of the operator have no customer, unless they look at one. */
export const isOperator = (me: Me): boolean => me.scopes.some((scope) => scope.startsWith('operator:'));
export const may = (me: Me, ...scopes: readonly string[]): boolean =>
  scopes.every((scope) => me.scopes.includes(scope));
/** Whether a button for something is shown: `useMay('transfer:write_platform_transfer')`. */
export const useMay = (...scopes: readonly string[]): boolean => may(useMe(), ...scopes);
