import { Link as RouterLink, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Search } from './screen.ts';
import { targetOf } from './target.ts';

export type LinkProps = {
  /** Below /console: `/transfers/…?…`. */
  readonly to: string;
  readonly className?: string;
  readonly children: ReactNode;
  readonly title?: string;
  /** Whether it is highlighted on the screens below it as well. */
  readonly isNav?: boolean;
  readonly tabIndex?: number;
  readonly onClick?: () => void;
};

/** A link to another view. The code of the view is loaded when the pointer or the focus is on it. */
export function Link({ to, isNav = false, ...rest }: LinkProps) {
  const { search } = useLocation();
  const target = targetOf(to, search as Search);
  return (
    <RouterLink
      {...target}
      {...rest}
      activeOptions={{ exact: !isNav, includeSearch: false }}
      activeProps={{ 'data-active': '' }}
    />
  );
}
