import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from '@tanstack/react-router';
import { CONSOLE } from './base.ts';
import { SCREENS } from './registry.ts';
import type { RawSearch } from './screen.ts';
import { NotHere, ScreenFailed, ScreenLoading } from './screen-states.tsx';
import { isOperator, useMe } from './session.ts';
import { Shell } from './shell.tsx';
import { parseSearch, stringifySearch } from './target.ts';

function Home() {
  const me = useMe();
  return <Navigate to={isOperator(me) ? OPERATOR_HOME : CUSTOMER_HOME} replace />;
}

/** The first entry of the navigation. */
function homeOf(audience: 'customer' | 'operator'): string {
  const [first] = SCREENS.filter((one) => one.audience === audience && one.nav !== undefined).sort(
    (left, right) => left.nav!.order - right.nav!.order,
  );
  return first?.path ?? '/account';
}
const [CUSTOMER_HOME, OPERATOR_HOME] = [homeOf('customer'), homeOf('operator')];

const root = createRootRoute({ component: Shell, notFoundComponent: NotHere });

const routes = SCREENS.map((screen) =>
  createRoute({
    getParentRoute: () => root,
    path: screen.path,
    component: lazyRouteComponent(screen.load),
    // The router keeps parameters that this does not name: those that the screen does not know are set to undefined.
    validateSearch: (raw: Record<string, unknown>) => ({
      ...Object.fromEntries(Object.keys(raw).map((name) => [name, undefined])),
      ...screen.search?.(raw as RawSearch),
      ...(typeof raw.customer === 'string' ? { customer: raw.customer } : {}),
    }),
  }),
);
const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

export const router = createRouter({
  routeTree: root.addChildren([home, ...routes]),
  basepath: CONSOLE,
  parseSearch,
  stringifySearch: stringifySearch as never,
  defaultPreload: 'intent',
  defaultPendingComponent: ScreenLoading,
  defaultErrorComponent: ScreenFailed,
  defaultNotFoundComponent: NotHere,
  scrollRestoration: false,
});
