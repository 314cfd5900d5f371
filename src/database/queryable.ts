import type { Vault } from '../kernel/vault.ts';

/** A parameter of a statement. Arrays are text literals (`columns.ts`) or, where speed counts, binary (`binary.ts`). */
export type Parameter = string | number | bigint | boolean | Buffer | null;

export type Queryable = {
  /** Prepared, with positional parameters. Rows have int8 and numeric as bigint, JSON parsed, and times as text. */
  query<Row extends object>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Seals what stores write into sealed columns, and opens what they read from them. Throws until the database is unlocked. */
  vault(): Vault;
};

/** Reads of one customer. A statement that finds a row of another customer fails: see `own-rows.ts`. */
export type CustomerReads = Queryable & { readonly customerId: string };

/** A COPY statement, and its rows and end marker in the wire format. */
export type CopyMessages = {
  readonly statement: string;
  readonly bytes: Buffer;
  /** Must be called once the bytes are sent; the buffer is reused afterwards. */
  sent(): void;
};

/** Statements that are issued without awaiting the one before are sent together and answered in order. */
export type Transaction = Queryable & {
  /** Runs a COPY with its rows, see `appendTo`. */
  copy(messages: CopyMessages): Promise<void>;
};
