/** Bounds on adapters, which operators write, behind the HTTP rail. */
export const HTTP_RAIL_LIMITS = {
  /** How long Ferry waits for an answer, unless configured. Below `railCallTimeoutMs`, so that the rail itself says what happened. */
  timeoutMs: 8_000,
  timeoutMsMin: 100,
  /** After this an adapter knows every request that reached it, unless configured. Far longer than a request takes. */
  horizonMs: 60_000,
  horizonMsMax: 86_400_000,
  /** A payment is a few hundred bytes; deposit instructions are the largest answer. */
  answerBytesMax: 64 * 1024,
  /** Connections of one node to one adapter: all concurrent calls of workers, and as many of callers who wait for deposit addresses. */
  connectionsMax: 32,
  idleConnectionsMax: 16,
  idleConnectionMs: 30_000,
  /** How far a timestamp may be from the clock: the tolerance of the Standard Webhooks libraries. */
  toleranceSeconds: 300,
  /** Of a signature header: a few signatures while a secret is replaced. */
  signaturesMax: 8,
  /** Notices in one request: they are one statement of the database. */
  noticesMax: 100,
  /** What customers are shown of a text of an adapter. */
  textShownMax: 200,
  /** An adapter's texts and references: longer ones are not references. */
  textMax: 2_000,
  referenceMax: 200,
  /** When a pending payment is asked about next, unless the adapter says so: its notice usually comes first. */
  nextAskMs: 10_000,
  nextAskMsMin: 100,
  nextAskMsMax: 3_600_000,
  confirmationsMax: 1_000_000,
} as const;
