import { listOf, type RawSearch, type Search, textOf } from '~/app/screen.ts';

/** A filter of a list, with the name that the operation gives it: the address and the request are the same. */
export type Filter = {
  readonly name: string;
  readonly label: string;
} & (
  | { readonly kind: 'choices' | 'choice'; readonly options: readonly string[] }
  /** Several texts, such as ids. */
  | { readonly kind: 'texts' }
  | { readonly kind: 'text' }
  | { readonly kind: 'time' }
);

/** The times that every list has. */
export const timeFilters = (column: 'created_at' | 'updated_at', what: string): Filter[] => [
  { name: `${column}.gte`, label: `${what} from`, kind: 'time' },
  { name: `${column}.lt`, label: `${what} before`, kind: 'time' },
];

/** `search` of a screen with these filters: unknown parameters and values are dropped. */
export const searchOf =
  (filters: readonly Filter[]) =>
  (raw: RawSearch): Search =>
    Object.fromEntries(
      filters.flatMap((filter) => {
        const value = valueIn(filter, raw);
        return value === undefined ? [] : [[filter.name, value]];
      }),
    );

function valueIn(filter: Filter, raw: RawSearch): string | readonly string[] | undefined {
  if (filter.kind === 'choices' || filter.kind === 'texts') {
    const values = listOf(raw, filter.name)?.filter(
      (one) => filter.kind === 'texts' || filter.options.includes(one),
    );
    return values === undefined || values.length === 0 ? undefined : values;
  }
  const value = textOf(raw, filter.name);
  return filter.kind === 'choice' && !filter.options.includes(value ?? '') ? undefined : value;
}
