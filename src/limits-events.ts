/** Bounds on the feed of events and on webhooks. Part of `LIMITS`. */
export const EVENT_LIMITS = {
  /** Events become readable at most this long after their commit, while others keep committing; see 0008-event-order. */
  eventSequenceIntervalMs: 10,
  /** How soon a node notices what other nodes committed or sequenced: one small query each time. */
  eventPollMs: 200,
  /** Groups of events that get their positions in one transaction: a few milliseconds. */
  eventSequenceGroupsMax: 2_000,
  /** Distance between the marks of the feed: a reader that starts at a time begins at most this much too early. */
  eventMarkIntervalMs: 60_000,
  /** Events that a filtered page scans, however few of them match: about 50 ms. */
  eventScanMax: 20_000,
  /** Packed events up to this size are not compressed: a row with more would be stored in pieces. */
  eventPlainBytesMax: 1_600,
  /** What is read from the feed at once: groups of events, and bytes of packed events unless one group has more. */
  eventReadGroupsMax: 2_000,
  eventReadBytesMax: 512 * 1024,
  eventTypesMax: 50,
  eventTypeLengthMax: 100,
  eventWaitSecondsMax: 30,
  /** Long polls that one customer may have waiting on one node. */
  eventWaitersMax: 100,
  /** Streams of one customer on one node. They are for dashboards; programs read the feed. */
  eventStreamsMax: 10,
  /** Proxies close connections that are silent for a minute. */
  eventHeartbeatMs: 15_000,
  /** Events that a stream reads at once. */
  eventStreamPageMax: 100,
  /** Per customer. Each endpoint has a position in the feed, which is read when there are new events. */
  webhookEndpointsMax: 20,
  webhookUrlLengthMax: 2_048,
  /** Timeout of the DNS lookup when an endpoint is registered. */
  webhookLookupMs: 2_000,
  /** From the start of the connection to the status of the answer. */
  webhookTimeoutMs: 10_000,
  /** How much of an answer's body is read, and for how long. It is only stored for inspection. */
  webhookResponseBytesMax: 4_096,
  webhookResponseBodyMs: 2_000,
  /** Requests in flight to one endpoint: a slow receiver occupies no more than these. */
  webhookConcurrency: 16,
  /** Unfinished deliveries of one endpoint: beyond that, events wait in the feed, where they cost nothing. */
  webhookPendingMax: 1_000,
  /** Events that are read from the feed for one endpoint at once. */
  webhookFanOutMax: 200,
  /** Minimum time between two reads of the feed for one endpoint, and between two looks for endpoints with new events. */
  webhookFanOutIntervalMs: 50,
  webhookLookIntervalMs: 25,
  /** Endpoints that one node delivers to at the same time; other nodes take the others. */
  webhookRunnersMax: 200,
  /** Concurrent statements for webhooks, so that enough connections are left for other work. */
  webhookStatementsMax: 3,
  /** Lease of an endpoint: how long it waits after its node died. Well above the duration of a request. */
  webhookLeaseMs: 30_000,
  webhookLeaseRenewMs: 2_000,
  /** How often a node polls for due deliveries. New events wake it earlier. */
  webhookPollMs: 1_000,
  /** Consecutive failures that open the circuit breaker of an endpoint. */
  webhookBreakerFailures: 10,
  /** While it is open, one request at a time probes the endpoint, this far apart: doubled each time up to the maximum. */
  webhookProbeMinMs: 10_000,
  webhookProbeMaxMs: 10 * 60_000,
  /** A delivery is given up, and an endpoint without any success disabled, after three days. */
  webhookGiveUpMs: 72 * 3_600_000,
  /** After a rotation both secrets sign for a day. */
  webhookSecretOverlapMs: 24 * 3_600_000,
  /** How often a node looks for events in which personal data is to be erased: deletions are rare, and seconds do not matter. */
  eventEraseIntervalMs: 5_000,
  /** Test events of one customer in flight on one node: each may wait for the receiver until it times out. */
  webhookTestsMax: 8,
  /** Deliveries that have ended are kept for a month. */
  webhookRetentionMs: 30 * 24 * 3_600_000,
  webhookRetentionIntervalMs: 60_000,
  webhookRetentionRowsMax: 5_000,
} as const;
