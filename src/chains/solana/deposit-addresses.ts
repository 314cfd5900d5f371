/**
 * Deposit addresses. Solana's keys (Ed25519) have no public derivation, so an address cannot be made from an xpub: the signer makes
 * the keys, and the service keeps a pool of their addresses.
 *
 * What the service must have, beside the driver:
 *
 * - `SignerAccount.deposits` of the signer: its deposit addresses in the order of their numbers. It derives each key from its seed
 *   and the number, so the same number always gives the same address, and a restored signer has all keys.
 * - A table of the pool: network, number (unique), address (unique), and the id that it was handed out for (unique, null while it is
 *   free). Handing one out is one update of the free row with the lowest number, `for update skip locked`; the same id gets the same
 *   address again. An empty pool is a 503.
 * - A worker with a connection to the signer that appends addresses with new numbers when fewer than a low mark are free, and
 *   refuses a list that differs from the rows that exist. Nodes that serve the API need no connection to the signer.
 * - The scanner's set of our addresses contains every address of the pool, also those that are free: money that arrives at a free
 *   one goes to suspense. It does not contain the lanes, or sweeps would look like deposits.
 */
export type PooledAddress = {
  readonly number: number;
  readonly address: string;
  /** What it was handed out for; null while it is free. */
  readonly handedOutFor: string | null;
};
