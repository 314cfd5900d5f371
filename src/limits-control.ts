/** Bounds on approvals and on the audit log. Part of `LIMITS`. */
export const CONTROL_LIMITS = {
  /** A request that nobody has approved by then expires: long enough for a holiday, short enough that its facts still hold. */
  approvalExpiryMs: 7 * 24 * 60 * 60_000,
  /** Requests of one customer that wait: more than people can look at, fewer than fill a disk. */
  approvalsPendingMax: 1_000,
  /** How long the maker of an executed request can take the secret or the link that it made. */
  claimMs: 7 * 24 * 60 * 60_000,
  /** Votes that one action can require. */
  approvalQuorumMax: 10,
  /** Why somebody approved or rejected a request. */
  approvalReasonMax: 500,
  /** Groups that a page of the audit log reads, however few of them match: about 50 ms. */
  auditLogGroupsMax: 2_000,
  /** Groups that are read at once. */
  auditLogPortion: 200,
  /** Refused attempts of one actor at one action are written at most this often, with their number. */
  refusedIntervalMs: 60_000,
  /** The first of them is in the log after this time. */
  refusedDelayMs: 250,
  /** Actors and actions of which a node counts refused attempts at a time; further ones count as one. */
  refusedActorsMax: 1_000,
  /** What operators search for: longer than any id, hash, address or reference. */
  searchTextMax: 200,
  /** What a search finds: more than people look through. */
  searchHitsMax: 50,
  /** Customers whose ref_ids are searched, the newest first: eight looks into an index for each, about 40 ms together. */
  searchCustomersMax: 2_000,
  /** Transfers among which amounts are searched, the latest ones: about 20 ms. */
  searchTransfersMax: 20_000,
  /** Settlement transactions that the network is made from, open ones and the latest ones: about 30 ms each. */
  settlementNetworkMax: 2_000,
  /** Sets that settled together: more than a picture can show. */
  settledSetsMax: 20,
  /** Endpoints whose health is shown, the worst first. */
  webhookHealthMax: 100,
  /** Latest deliveries of each: a row of marks in a picture. */
  webhookHealthDeliveries: 30,
  /** Pending deliveries that are counted for each endpoint: beyond this only more or less matters. */
  webhookHealthPendingMax: 1_000,
} as const;
