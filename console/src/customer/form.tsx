import { type ChangeEvent, type ReactElement, type ReactNode, useRef, useState } from 'react';
import { parseAmount } from '~/lib/money.ts';
import { Field, fieldProblem } from '~/ui/index.ts';
import { newRefId } from './data.ts';

export type Values = Readonly<Record<string, string>>;
export type Errors = Readonly<Record<string, string | undefined>>;
type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export type Form<Shape extends Values> = {
  readonly values: Shape;
  readonly isValid: boolean;
  /** What the service has refused last. */
  readonly refused: unknown;
  /** The idempotency key of what is filled in: the same for every attempt, another one after a change. */
  refId(): string;
  set(changes: Partial<Shape>): void;
  /** Shows what is missing as well. */
  showAll(): void;
  refuse(error: unknown): void;
  errorOf(name: keyof Shape & string, pointer?: string): string | undefined;
  input(name: keyof Shape & string): {
    readonly value: string;
    readonly onChange: (event: ChangeEvent<Control>) => void;
    readonly onBlur: () => void;
  };
};

/** Texts of a form, checked with every key. A field that nobody has filled in yet is not called wrong. */
export function useForm<Shape extends Values>(initial: Shape, check: (values: Shape) => Errors): Form<Shape> {
  const [values, setValues] = useState(initial);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [refused, refuse] = useState<unknown>();
  const key = useRef<string>(undefined);
  const errors = check(values);
  const set = (changes: Partial<Shape>): void => {
    setValues((before) => ({ ...before, ...changes }));
    refuse(undefined);
    key.current = undefined;
  };
  return {
    values,
    isValid: Object.values(errors).every((one) => one === undefined),
    refused,
    refId: () => {
      key.current ??= newRefId();
      return key.current;
    },
    set,
    refuse,
    showAll: () => setTouched(new Set(Object.keys(errors))),
    errorOf: (name, pointer = `/${name}`) =>
      (touched.has(name) || values[name] !== '' ? errors[name] : undefined) ?? fieldProblem(refused, pointer),
    input: (name) => ({
      value: values[name]!,
      onChange: (event) => set({ [name]: event.target.value } as unknown as Partial<Shape>),
      onBlur: () => setTouched((before) => (before.has(name) ? before : new Set([...before, name]))),
    }),
  };
}

/** A field of a form, with what is wrong about it. */
export function FormField<Shape extends Values>({
  form,
  name,
  pointer,
  label,
  hint,
  className,
  children,
}: {
  readonly form: Form<Shape>;
  readonly name: keyof Shape & string;
  /** In the request, if it is not the name of the field. */
  readonly pointer?: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly className?: string;
  readonly children: (
    wired: ReturnType<Form<Shape>['input']> & { readonly id: string; readonly 'aria-invalid'?: true },
  ) => ReactElement;
}) {
  return (
    <Field
      label={label}
      error={form.errorOf(name, pointer)}
      {...(hint !== undefined && { hint })}
      {...(className !== undefined && { className })}
    >
      {(wired) => children({ ...wired, ...form.input(name) })}
    </Field>
  );
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const required = (text: string, what: string): string | undefined =>
  text.trim() === '' ? `Enter ${what}.` : undefined;

export const idFault = (text: string, what: string): string | undefined =>
  required(text, what) ??
  (UUID.test(text.trim()) ? undefined : 'This is not an id: 36 characters, in lower case.');

/** What is wrong about an amount of an asset with so many decimals. */
export function amountFault(text: string, decimals: number | undefined): string | undefined {
  if (text === '') return 'Enter an amount.';
  const parsed = parseAmount(text.startsWith('.') ? `0${text}` : text);
  if (parsed === undefined || parsed.units < 0n) return 'Digits, with a point before the fraction: 1250.75';
  if (parsed.units === 0n) return 'The amount must be more than zero.';
  if (decimals !== undefined && parsed.decimals > decimals)
    return decimals === 0
      ? 'This asset has no fraction.'
      : `This asset has at most ${decimals} digits after the point.`;
  return undefined;
}

/** Without the fields that are empty: those are optional, and an empty text is not the same as none. */
export const filled = <Shape extends object>(fields: Shape): Shape =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as Shape;
