import type { ReactNode } from 'react';
import { cx } from '~/lib/cx.ts';
import { Icon, type IconName } from './icon.tsx';

/** Nothing is here, and why that may be, and how something comes here. */
export function EmptyState({
  icon = 'inbox',
  title,
  children,
  action,
}: {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-12 text-center">
      <span className="mb-1 grid size-10 place-items-center rounded-full bg-raised text-quiet">
        <Icon name={icon} className="size-5" />
      </span>
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="text-sm text-quiet">{children}</div>}
      {action !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** In the place of a text that is loading. */
export function Skeleton({ className = 'h-4 w-32' }: { readonly className?: string }) {
  return <span className={cx('block animate-pulse rounded bg-raised', className)} aria-hidden="true" />;
}

/** In the place of a screen or a section that is loading. */
export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <div role="status" className="flex flex-col gap-3 p-6">
      <span className="sr-only">{what}…</span>
      <Skeleton className="h-5 w-48" />
      <Skeleton className="h-4 w-full max-w-xl" />
      <Skeleton className="h-4 w-full max-w-lg" />
    </div>
  );
}
