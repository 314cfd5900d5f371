import type { ComponentProps, ReactNode } from 'react';
import { Link, type LinkProps } from '~/app/link.tsx';
import { cx } from '~/lib/cx.ts';
import { Icon, type IconName } from './icon.tsx';

type Variant = 'primary' | 'secondary' | 'ghost' | 'danger';

const SHAPE =
  'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md text-sm font-medium whitespace-nowrap transition-colors select-none disabled:opacity-55';

const VARIANTS: Readonly<Record<Variant, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong',
  secondary: 'border border-line-strong bg-panel text-ink hover:bg-hover',
  ghost: 'text-quiet hover:bg-hover hover:text-ink',
  danger: 'bg-bad text-on-bad hover:opacity-90',
};

type Shared = { readonly variant?: Variant; readonly icon?: IconName };

export type ButtonProps = Omit<ComponentProps<'button'>, 'type'> &
  Shared & {
    readonly type?: 'button' | 'submit';
    /** While what it does is in progress: it cannot be pressed again, and says so. */
    readonly busy?: boolean;
  };

export function Button({
  variant = 'secondary',
  icon,
  busy = false,
  className,
  children,
  type = 'button',
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      className={cx(SHAPE, VARIANTS[variant], children === undefined ? 'w-8' : 'px-3', className)}
    >
      {icon !== undefined && (
        <Icon name={busy ? 'refresh' : icon} className={cx('size-4', busy && 'animate-spin')} />
      )}
      {busy && icon === undefined && <Icon name="refresh" className="size-4 animate-spin" />}
      {children}
    </button>
  );
}

/** A button with a picture only; `label` is its name. */
export function IconButton({
  label,
  icon,
  ...rest
}: Omit<ButtonProps, 'children' | 'icon'> & { readonly label: string; readonly icon: IconName }) {
  return <Button variant="ghost" {...rest} icon={icon} aria-label={label} title={label} />;
}

/** Looks like a button and goes to a view. */
export function LinkButton({
  variant = 'secondary',
  icon,
  className,
  children,
  ...rest
}: LinkProps & Shared & { readonly children: ReactNode }) {
  return (
    <Link {...rest} className={cx(SHAPE, 'px-3', VARIANTS[variant], className)}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </Link>
  );
}
