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
  /** Lines that the log has in a minute about requests that are not HTTP. Scanners send thousands; the metrics count all of them. */
  brokenRequestsLoggedMax: 60,
  /** Static content is sent in pieces of this size, so that a slow reader holds no more than one of them. */
  staticPieceBytes: 64 * 1024,
  /** How long browsers keep pages of the documentation without asking whether they have changed. */
  staticCacheSeconds: 300,
  /** A build of the console that failed is tried again after this long: a minute, because it takes seconds of processor time. */
  consoleBuildRetryMs: 60_000,
  /** How long the commands of new requests may take: a tenth of what callers of an overloaded service should see. */
  admissionWaitMs: 50,
  /** Longer for reads, of which many wait for the same few connections. */
  admissionReadWaitMs: 500,
  /** The wait must exceed its bound for this long before requests are refused: a burst is served. */
  admissionIntervalMs: 100,
  /** How often the wait is measured. */
  admissionLookMs: 20,
  /** With fewer commands in progress, no request is refused: two full batches, 100 to 200 ms. */
  admissionCommandsCrowd: 1_024,
  /**
   * Commands in progress that are let in during an overload. With fewer, batches are small and the write path is slower; with
   * more, it is not faster, but everybody waits longer. For a database whose commits take longer than `admissionWaitMs`, it
   * bounds the rate during an overload.
   */
  admissionCommandsMin: 256,
  /** The same for reads that wait for a connection. */
  admissionReadsCrowd: 64,
  admissionReadsMin: 16,
  /**
   * Points that a customer may use per second on one node, unless `ferry customer limit` says otherwise. A point is about
   * 0.2 ms of the thread, so this is less than half of a node.
   */
  customerPointsPerSecond: 2_000,
  /** The highest rate that can be set: more than any node serves. */
  pointsPerSecondMax: 1_000_000,
  /** The share of its customer's rate that one client may use: a report must not stop the payments of another client. */
  clientRateShare: 0.5,
  /** Unused points of this many seconds can be used at once. */
  rateSeconds: 2,
  /** What a request costs: one point, one more for each so many rows of a page, or bytes of an answer or a body. */
  rowsPerPoint: 12.5,
  answerBytesPerPoint: 6 * 1024,
  bodyBytesPerPoint: 4 * 1024,
  /** A body that is sent in chunks, without its length. */
  chunkedBodyPoints: 8,
  /** A stream reads pages for as long as it is open. */
  streamPoints: 20,
  /** Tokens that one client gets per second. A token is valid for an hour; more are a mistake in a program. */
  clientTokensPerSecond: 20,
  /** Reads in progress: the connections that background work leaves over. */
  readsMax: 7,
  /** Reads of one customer in progress, so that the next customer never waits for all of them. */
  customerReadsMax: 5,
  /** Rows that are processed at once: about a millisecond. */
  sliceRows: 64,
  /** Refusals of one caller that are sent at once, the interval of further ones, and how late they may become. */
  refusalsAtOnceMax: 20,
  refusalIntervalMs: 5,
  refusalDelayMaxMs: 2_000,
  /** Callers whose refusals are counted: about 100 bytes each. */
  refusedCallersMax: 10_000,
  /** A refused client is asked to come back after one of these times, so that not all of them come back together. */
  overloadRetryMs: [250, 500, 750, 1_000],
  /** Refusals that are sent per turn of the event loop: about a millisecond. */
  refusalsPerTurnMax: 64,
  /** Metrics are rendered at most this often: it takes milliseconds, and needs no token. */
  metricsMs: 1_000,
  /** How long a command of the command line waits for the service: longer than the service takes for a commit in doubt. */
  commandCallMs: 120_000,
} as const;
