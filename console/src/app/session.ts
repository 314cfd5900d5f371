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

/** Whether the screens of the operator are for the caller. A client of a customer can have scopes of the operator as well. */
export const isOperator = (me: Me): boolean => me.scopes.some((scope) => scope.startsWith('operator:'));
/** Whether the caller has data of a customer: people of the operator only while they look at one. */
export const hasCustomer = (me: Me): boolean => me.kind === 'CLIENT' || me.customer_id !== undefined;
export const may = (me: Me, ...scopes: readonly string[]): boolean =>
  scopes.every((scope) => me.scopes.includes(scope));
/** Whether a button for something is shown: `useMay('transfer:write_platform_transfer')`. */
export const useMay = (...scopes: readonly string[]): boolean => may(useMe(), ...scopes);
