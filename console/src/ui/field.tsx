import { type ComponentProps, type ReactElement, type ReactNode, useId } from 'react';
import { cx } from '~/lib/cx.ts';

const CONTROL =
  'h-8 w-full min-w-0 rounded-md border border-line-strong bg-panel px-2.5 text-sm text-ink placeholder:text-quiet aria-invalid:border-bad';

type Wired = { readonly id: string; readonly 'aria-describedby'?: string; readonly 'aria-invalid'?: true };

/** A label, one control, and below it a hint or what is wrong. `children` gets what connects them. */
export function Field({
  label,
  hint,
  error,
  children,
  className,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly className?: string;
  readonly children: (wired: Wired) => ReactElement;
}) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className={cx('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="text-xs font-medium text-quiet">
        {label}
      </label>
      {children({
        id,
        ...(note !== undefined && { 'aria-describedby': `${id}-note` }),
        ...(error !== undefined && { 'aria-invalid': true as const }),
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={cx('text-xs', error === undefined ? 'text-quiet' : 'text-bad')}>
          {note}
        </p>
      )}
    </div>
  );
}

export function TextInput({ className, ...rest }: ComponentProps<'input'>) {
  return <input autoComplete="off" spellCheck={false} {...rest} className={cx(CONTROL, className)} />;
}

/** For amounts: digits below each other, and no wheel that changes them, as inputs of the type number have it. */
export function AmountInput({ className, ...rest }: ComponentProps<'input'>) {
  return <TextInput inputMode="decimal" {...rest} className={cx('tabular text-right', className)} />;
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea rows={3} {...rest} className={cx(CONTROL, 'h-auto py-1.5', className)} />;
}

export type Option = { readonly value: string; readonly label: string };

/** The browser's own: it works with every keyboard, and on every phone. */
export function Select({
  options,
  className,
  ...rest
}: ComponentProps<'select'> & { readonly options: readonly Option[] }) {
  return (
    <select {...rest} className={cx(CONTROL, 'pr-7', className)}>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

export function Checkbox({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'type'> & { readonly label: ReactNode }) {
  return (
    <label className={cx('flex items-center gap-2 py-0.5 text-sm', className)}>
      <input type="checkbox" {...rest} className="size-3.5 accent-accent" />
      {label}
    </label>
  );
}
