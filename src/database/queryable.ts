import type { Vault } from '../kernel/vault.ts';
import type { Shards } from './shards.ts';

/** A parameter of a statement. Arrays are text literals (`columns.ts`) or, where speed counts, binary (`binary.ts`). */
export type Parameter = string | number | bigint | boolean | Buffer | null;

/**
 * The text of a statement; or two, if what is best on one server cannot be planned on a cluster, see `distribution.ts`. Both have the same
 * parameters and the same rows.
 */
export type Statement =
  | string
  | { readonly plain: string; readonly distributed: string | ((views: Views) => string) };

/** The definitions of views that join a distributed table with others: on a cluster they are parts of the statement. */
export type Views = ReadonlyMap<string, string>;

/** What a connection knows about the cluster that it belongs to. The shards are undefined until the tables are distributed. */
export type Cluster = { readonly views: Views; readonly shards: Shards | undefined };

export type Queryable = {
  /** Prepared, with positional parameters. Rows have int8 and numeric as bigint, JSON parsed, and times as text. */
  query<Row extends object>(statement: Statement, parameters?: readonly Parameter[]): Promise<Row[]>;
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
  /** Where profiles and transfers are, on a cluster. */
  readonly shards: Shards | undefined;
};
