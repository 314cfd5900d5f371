/**
 * The second wall between customers. The first one is the condition on the customer in every statement; this one does not
 * depend on it. Whatever is read for a customer passes `Database.of`, which refuses a row of another customer: if a condition is
 * wrong or missing, the request fails, and nothing of the row is answered. So every row has to say whose it is.
 */
export type OwnedRow = {
  readonly customerId?: string | null;
  /** The other party, who may see the row as well. */
  readonly targetCustomerId?: string | null;
  /** The row is about nobody in particular, such as the time, or the end of the feed. */
  readonly isNobodys?: boolean;
};

/** A bug: it is logged, and answered as an internal error. */
export class ForeignRow extends Error {
  constructor(owner: string | null | undefined, customerId: string, text: string) {
    super(
      owner === undefined || owner === null
        ? `a statement for a customer has to select whose its rows are: ${text}`
        : `a statement for the customer ${customerId} has found a row of ${owner}: ${text}`,
    );
    this.name = 'ForeignRow';
  }
}

/** Returns the rows if all of them belong to the customer. */
export function ownRows<Row extends object>(rows: Row[], customerId: string, text: string): Row[] {
  for (const row of rows as OwnedRow[]) {
    if (row.customerId === customerId || row.targetCustomerId === customerId || row.isNobodys === true)
      continue;
    throw new ForeignRow(row.customerId, customerId, text);
  }
  return rows;
}
