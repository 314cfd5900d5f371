import type { Statement } from './queryable.ts';

/**
 * The second wall between customers. The first one is the condition on the customer in every statement; this one does not
 * depend on it. Whatever is read for a customer passes `Database.of`, which refuses a row of another customer: if a condition is
 * wrong or missing, the request fails, and nothing of the row is answered. So every row has to say whose it is.
 */
type OwnedRow = {
  readonly id?: string;
  readonly customerId?: string | null;
  /** The other party, who may see the row as well. */
  readonly targetCustomerId?: string;
  /** In a row without a customer: a profile that was read before, as one of the customer. */
  readonly profileId?: string;
  /** The row is about nobody in particular, such as the time, or the end of the feed. */
  readonly isNobodys?: boolean;
};

/** A bug: it is logged, and answered as an internal error. */
export class ForeignRow extends Error {
  constructor({ customerId: owner }: OwnedRow, customerId: string, statement: Statement) {
    const text = typeof statement === 'string' ? statement : statement.plain;
    super(
      typeof owner === 'string'
        ? `a statement for the customer ${customerId} has found a row of ${owner}: ${text}`
        : `a statement for the customer ${customerId} has found a row that does not say whose it is: ${text}`,
    );
    this.name = 'ForeignRow';
  }
}

/** A function that returns the rows of a statement if all of them belong to the customer. */
export function createOwnerCheck(customerId: string) {
  /** Records that were read one by one. */
  const known = new Set<string>();
  const isOwn = (row: OwnedRow): boolean =>
    row.customerId === customerId ||
    row.targetCustomerId === customerId ||
    row.isNobodys === true ||
    (row.customerId === undefined && row.profileId !== undefined && known.has(row.profileId));

  return <Row extends object>(rows: Row[], statement: Statement): Row[] => {
    for (const row of rows) if (!isOwn(row)) throw new ForeignRow(row, customerId, statement);
    const [only] = rows as OwnedRow[];
    if (rows.length === 1 && only!.id !== undefined) known.add(only!.id);
    return rows;
  };
}
