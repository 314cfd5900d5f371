/** Bounds on what clients can cost before anything is known about them. Part of `LIMITS`. */
export const HTTP_LIMITS = {
  /**
   * Connections of one node: about 12 KB each, and more than `clientRequestsMax`. A new connection above the bound takes
   * the place of the one that has been idle for longest.
   */
  connectionsMax: 4_000,
  /** Connections of one source address, unless FERRY_CONNECTIONS_PER_SOURCE says otherwise: a quarter of all. */
  sourceConnectionsMax: 1_000,
  /** Requests that a connection may send ahead of the answers. They are handled one after the other. */
  pipelinedRequestsMax: 16,
  /** Bytes of answers that the client of one connection has not read: eight of the largest pages. */
  connectionUnreadBytesMax: 8 * 1024 * 1024,
  /** The same of all connections together. Above it, those that have read nothing for longest are closed. */
  unreadBytesMax: 64 * 1024 * 1024,
  /** A client that has read nothing for this long is disconnected. One that reads 25 KB a second is fast enough. */
  unreadMs: 30_000,
  /** How often connections are checked for unread answers: 0.1 ms of processor time for 4,000. */
  unreadLookMs: 250,
  /** How long a client that broke HTTP has to read the answer and to close its side of the connection. */
  hangUpMs: 1_000,
  /** Static content is sent in pieces of this size, so that a slow reader holds no more than one of them. */
  staticPieceBytes: 64 * 1024,
  /** How long browsers keep pages of the documentation without asking whether they have changed. */
  staticCacheSeconds: 300,
  /** How long the commands of new requests may take: a fifth of what callers of an overloaded service should see. */
  admissionWaitMs: 100,
  /** Longer for reads, of which many wait for the same few connections. */
  admissionReadWaitMs: 500,
  /** The wait must exceed its bound for this long before requests are refused: a burst is served. */
  admissionIntervalMs: 100,
  /** How often the wait is measured. */
  admissionLookMs: 20,
  /**
   * Commands that may always be in progress: one full batch. Fewer would make batches small and the write path slow. In an
   * overload, this also bounds the rate of a database whose commits take longer than `admissionWaitMs`.
   */
  admissionCommandsMin: 512,
  /** Reads that may always wait for a connection. */
  admissionReadsMin: 16,
  /** While the thread is this late, reads are started one by one, and get a third of its time. */
  pacedFromLateMs: 50,
  /** A read that delayed everything else by more than this is followed by a pause. */
  pacedLateMs: 5,
  /** A refused client is asked to come back after one of these times, so that not all of them come back together. */
  overloadRetryMs: [250, 500, 750, 1_000],
  /** Metrics are rendered at most this often: it takes milliseconds, and needs no token. */
  metricsMs: 1_000,
} as const;
