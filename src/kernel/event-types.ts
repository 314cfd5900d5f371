declare const declared: unique symbol;

/**
 * What happened to which kind of resource: `transfer.wire_withdrawal.pending`. Only `eventFamily` makes one, so code that
 * writes an event of a type that no capability has declared does not compile.
 */
export type EventType = string & { readonly [declared]: true };

/** The events of one kind of resource, as the capability that owns the resource declares them. */
export type EventFamily<Name extends string = string> = {
  /** The first word of every type. */
  readonly family: string;
  /** The full type, by what follows the first word. */
  readonly types: Readonly<Record<Name, EventType>>;
  /** Their resources have personal data, and are sealed in the database. */
  readonly isSealed: boolean;
  /** The title of the schema of their data, for the API reference. */
  readonly resource?: string;
};

export function eventFamily<const Name extends string>(
  family: string,
  names: readonly Name[],
  isSealed = false,
): EventFamily<Name> {
  const types = Object.fromEntries(names.map((name) => [name, `${family}.${name}`]));
  return { family, types: types as Record<string, string> as Record<Name, EventType>, isSealed };
}

/** Statuses are upper case in resources and lower case in event types. */
export function lowerCase<Text extends string>(text: Text): Lowercase<Text> {
  return text.toLowerCase() as Lowercase<Text>;
}
