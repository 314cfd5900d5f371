import { type ReactNode, useEffect } from 'react';
import { Link } from '~/app/link.tsx';
import { Icon } from './icon.tsx';

/** The top of a screen: its name, also as the title of the window, and its actions at the right. */
export function PageHeader({
  title,
  windowTitle = title,
  back,
  badge,
  children,
}: {
  readonly title: ReactNode;
  /** If the title is not a text. */
  readonly windowTitle?: ReactNode;
  /** The list that this is one of. */
  readonly back?: { readonly to: string; readonly label: string };
  readonly badge?: ReactNode;
  /** Actions. */
  readonly children?: ReactNode;
}) {
  useEffect(() => {
    document.title = typeof windowTitle === 'string' ? `${windowTitle} · Ferry` : 'Ferry';
  }, [windowTitle]);
  return (
    <header className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pt-4 pb-3 sm:px-6">
      <div className="min-w-0 flex-1 basis-60">
        {back !== undefined && (
          <Link
            to={back.to}
            className="mb-0.5 inline-flex items-center gap-0.5 text-xs text-quiet hover:text-ink"
          >
            {back.label}
            <Icon name="right" className="size-3" />
          </Link>
        )}
        <div className="flex flex-wrap items-center gap-2.5">
          <h1 tabIndex={-1} data-quiet-focus="" className="text-lg leading-7 font-semibold tracking-tight">
            {title}
          </h1>
          {badge}
        </div>
      </div>
      {children !== undefined && <div className="flex flex-wrap items-center gap-2">{children}</div>}
    </header>
  );
}

/** What is below the header of a screen that scrolls as a whole. Screens with one table fill the window instead. */
export function PageBody({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-col gap-4 px-4 pb-8 sm:px-6">{children}</div>;
}

export function Panel({
  title,
  action,
  children,
  flush = false,
}: {
  readonly title?: ReactNode;
  readonly action?: ReactNode;
  readonly children: ReactNode;
  /** Without space at the edges: for tables. */
  readonly flush?: boolean;
}) {
  return (
    <section className="min-w-0 rounded-xl border border-line bg-panel">
      {title !== undefined && (
        <header className="flex min-h-11 items-center gap-2 border-b border-line px-4 py-1.5">
          <h2 className="flex-1 text-sm font-semibold">{title}</h2>
          {action}
        </header>
      )}
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  );
}

export type Fact = { readonly name: string; readonly value: ReactNode };

/** Names and values of one thing. Facts without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly (Fact | undefined)[] }) {
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-2 text-sm sm:grid-cols-[max-content_1fr]">
      {facts
        .filter((fact) => fact?.value !== undefined)
        .map((fact) => (
          <div key={fact!.name} className="contents">
            <dt className="text-quiet max-sm:-mb-1.5 max-sm:text-xs">{fact!.name}</dt>
            <dd className="min-w-0 break-words">{fact!.value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Kbd({ children }: { readonly children: ReactNode }) {
  return (
    <kbd className="inline-grid h-5 min-w-5 place-items-center rounded border border-line bg-raised px-1 font-sans text-2xs text-quiet">
      {children}
    </kbd>
  );
}
