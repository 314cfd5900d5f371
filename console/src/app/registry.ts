import type { Screen } from './screen.ts';
import { hasCustomer, isOperator, type Me, may } from './session.ts';

const found = import.meta.glob<{ default: Screen }>('../screens/*/*/screen.ts', { eager: true });

/** Every screen of the console. A new folder with a `screen.ts` is all that a new one needs. */
export const SCREENS: readonly Screen[] = Object.values(found).map((module) => module.default);

/** Whether a person sees a screen in the navigation and in the palette. */
export function isFor(me: Me, { audience, scopes = [] }: Screen, looksAtCustomer: boolean): boolean {
  const fits =
    audience === 'everyone' ||
    (audience === 'operator' ? isOperator(me) : hasCustomer(me) || looksAtCustomer);
  return fits && may(me, ...scopes);
}

export type NavGroup = { readonly name: string; readonly screens: readonly Screen[] };

export function navigationFor(me: Me, looksAtCustomer: boolean): NavGroup[] {
  const shown = SCREENS.filter((one) => one.nav !== undefined && isFor(me, one, looksAtCustomer)).sort(
    (left, right) => left.nav!.order - right.nav!.order,
  );
  const groups = Map.groupBy(shown, (one) => one.nav!.group);
  return [...groups].map(([name, screens]) => ({ name, screens }));
}
