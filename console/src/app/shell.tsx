import { Dialog } from '@base-ui/react/dialog';
import { Unauthenticated } from '@ferry/client';
import { QueryErrorResetBoundary, useSuspenseQuery } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { useCell } from '~/lib/emitter.ts';
import { Button, IconButton } from '~/ui/button.tsx';
import { Icon } from '~/ui/icon.tsx';
import { Id } from '~/ui/id.tsx';
import { Loading } from '~/ui/states.tsx';
import { Toasts } from '~/ui/toast.tsx';
import { signIn } from './account.ts';
import { connection } from './api.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { useKeys } from './keys.ts';
import { KeysHelp } from './keys-help.tsx';
import { useGo } from './navigation.ts';
import { Palette } from './palette.tsx';
import { isFor, SCREENS } from './registry.ts';
import { ScreenFailed } from './screen-states.tsx';
import { meQuery, useMe } from './session.ts';
import { Sidebar } from './sidebar.tsx';

/** The session was revoked or has expired. What is on the screen stays; signing in leads back to it. */
function SessionEnded() {
  return (
    <Dialog.Root open>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/35" />
        <Dialog.Popup className="fixed inset-x-3 top-[20vh] z-40 mx-auto max-w-sm rounded-xl border border-line bg-panel p-5 shadow-pop">
          <Dialog.Title className="font-semibold">Your session has ended</Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-sm text-quiet">
            It was revoked, or not used for a while. Nothing that you had not confirmed was executed. Sign in
            to come back to this view.
          </Dialog.Description>
          <Button variant="primary" onClick={signIn}>
            Sign in again
          </Button>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Banner() {
  const state = useCell(connection);
  return (
    <div role="status" aria-live="polite">
      {state === 'lost' && (
        <p className="flex items-center justify-center gap-2 bg-warn-soft px-3 py-1.5 text-xs text-warn">
          <Icon name="refresh" className="size-3.5 animate-spin" />
          The service does not answer. Trying again; nothing is lost.
        </p>
      )}
    </div>
  );
}

function LooksAt({ customer }: { readonly customer: string }) {
  const go = useGo();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-accent-soft px-4 py-1.5 text-xs sm:px-6">
      <span>
        You look at customer <Id id={customer} of="customer id" />. You can read everything, and change
        nothing of it here.
      </span>
      <button
        type="button"
        className="font-medium text-accent hover:underline"
        onClick={() => go('/operator')}
      >
        Stop looking
      </button>
    </div>
  );
}

/** The first screen that opens takes the focus to its heading, as a page load would. */
function useFocusOnNavigation(): React.RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const last = useRef(pathname);
  useEffect(() => {
    if (last.current === pathname) return;
    last.current = pathname;
    main.current?.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return main;
}

function useShellKeys(openPalette: () => void, openHelp: () => void, looksAt: string | undefined): void {
  const me = useMe();
  const go = useGo();
  const opened = SCREENS.filter(
    (one) => one.nav?.key !== undefined && isFor(me, one, looksAt !== undefined),
  ).map(({ nav, title, path }) => [`g ${nav!.key}`, [title, () => go(path)]] as const);
  useKeys({
    'mod+k': ['Search views and actions', openPalette],
    '/': ['Search views and actions', openPalette],
    '?': ['Show these keys', openHelp],
    ...Object.fromEntries(opened),
  });
}

function Frame() {
  const [open, setOpen] = useState<'palette' | 'help' | 'nav' | undefined>();
  const close = (): void => setOpen(undefined);
  const main = useFocusOnNavigation();
  const { search, pathname } = useLocation();
  const looksAt = (search as { customer?: string }).customer;
  useShellKeys(
    () => setOpen('palette'),
    () => setOpen('help'),
    looksAt,
  );
  return (
    <div className="flex h-full flex-col">
      <button
        type="button"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-accent focus:px-3 focus:py-1.5 focus:text-on-accent"
        onClick={() => main.current?.focus()}
      >
        Skip to the content
      </button>
      <Banner />
      <div className="flex min-h-0 flex-1">
        <aside className="w-56 shrink-0 border-r border-line bg-panel max-lg:hidden" aria-label="Navigation">
          <Sidebar onSearch={() => setOpen('palette')} looksAt={looksAt} />
        </aside>
        <div className="flex min-w-0 flex-1 flex-col">
          <header className="flex h-12 items-center gap-1 border-b border-line bg-panel px-2 lg:hidden">
            <IconButton label="Open the navigation" icon="menu" onClick={() => setOpen('nav')} />
            <span className="flex-1 font-bold tracking-tight text-accent">Ferry</span>
            <IconButton label="Search" icon="search" onClick={() => setOpen('palette')} />
          </header>
          {looksAt !== undefined && <LooksAt customer={looksAt} />}
          <main ref={main} tabIndex={-1} className="flex min-h-0 flex-1 flex-col overflow-y-auto">
            <QueryErrorResetBoundary>
              <ErrorBoundary key={pathname} fallback={ScreenFailed}>
                <Suspense fallback={<Loading />}>
                  <Outlet />
                </Suspense>
              </ErrorBoundary>
            </QueryErrorResetBoundary>
          </main>
        </div>
      </div>
      <Palette open={open === 'palette'} onClose={close} />
      <KeysHelp open={open === 'help'} onClose={close} />
      <Dialog.Root open={open === 'nav'} onOpenChange={(isOpen) => !isOpen && close()}>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/35" />
          <Dialog.Popup
            aria-label="Navigation"
            className="fixed inset-y-0 left-0 z-40 w-64 border-r border-line bg-panel shadow-pop"
          >
            <Sidebar onSearch={() => setOpen('palette')} onLeave={close} looksAt={looksAt} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </div>
  );
}

/** Asks once who is signed in. Without a session, leads to the sign-in and back to the same place. */
function Gate() {
  const { error } = useSuspenseQuery({
    ...meQuery,
    queryFn: () =>
      meQuery.queryFn().catch((thrown: unknown) => {
        if (thrown instanceof Unauthenticated) {
          signIn();
          // Until the other page is there.
          return new Promise<never>(() => undefined);
        }
        throw thrown;
      }),
  });
  if (error !== null) throw error;
  return <Signed />;
}

function Signed() {
  const state = useCell(connection);
  return (
    <>
      <Frame />
      {state === 'ended' && <SessionEnded />}
      <Toasts />
    </>
  );
}

export function Shell() {
  return (
    <ErrorBoundary fallback={ScreenFailed}>
      <Suspense
        fallback={
          <>
            <Banner />
            <Loading what="Loading the console" />
          </>
        }
      >
        <Gate />
      </Suspense>
    </ErrorBoundary>
  );
}
