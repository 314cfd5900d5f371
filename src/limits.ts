/** Every bound of the service in one place, each with its reason. */
export const LIMITS = {
  /** Commands that may wait for the write path. At 10,000 a second a full queue is one second of waiting. */
  queueCommandsMax: 10_000,
  /** Commands in one batch: large enough to share one commit, small enough to keep the slowest caller's wait short. */
  batchCommandsMax: 512,
  /** Batches of the pessimistic lane in flight: while the database works on one, the next one is prepared. */
  batchesMax: 2,
  /** Minimum number of queued commands for a second batch: its fixed cost is shared by its commands. */
  secondBatchCommandsMin: 128,
  /** Batches of the optimistic lane in flight: more than two, so that the database has work while the node answers many. */
  flightsMax: 4,
  /** Minimum size of the last batch at which the next one waits for more commands to arrive. */
  gatherCommandsMin: 4,
  /** How long it waits since the last batch ended: the fixed cost of a batch is a third of what a few commands cost. */
  gatherMs: 1,
  /** How long the optimistic lane keeps its connection without a batch. */
  optimisticIdleMs: 100,
  /** After an optimistic batch failed, commands take the pessimistic lane for so long, doubled with each further failure. */
  optimisticBackOffMs: 10,
  optimisticBackOffMaxMs: 5_000,
  /** Balances of one asset, and rows of one table, in a node's cache: about 200 bytes each. */
  cachedBalancesMax: 50_000,
  cachedRowsMax: 50_000,
  /** Idempotency keys in a node's cache: four bytes each. A prime, so that all bits of a hash count. */
  cachedKeysMax: 131_071,
  /** Balance rows that one batch locks; a settlement with many legs fills a batch by itself. */
  batchBalancesMax: 2_048,
  /** Postings of one command: lines and postings are numbered in a smallint, twice as many lines as postings. */
  commandPostingsMax: 10_000,
  /** How far ahead of the database's clock a node's instants may be: what clocks that are kept in step differ by. */
  clockAheadMaxMs: 1_000,
  /**
   * How far ahead the last entry of a balance may be before its commands are refused. A clock that was wrong by hours
   * must not stop money; one that was wrong by days must not spread to every balance that trades with this one.
   */
  instantAheadMaxMs: 24 * 3_600_000,
  /** How often a batch is tried, after deadlocks and missing balance rows, before its commands are refused. */
  batchAttemptsMax: 5,
  /** How long callers wait for the outcome of a commit that was cut off before they get a 503. */
  commitInDoubtMs: 8_000,
  /** How often the database is asked meanwhile. */
  commitInDoubtLookMs: 100,
  /** One wait for the standby's confirmation; after it the server is asked on a new connection, in case it is gone. */
  confirmationMs: 60_000,
  /** A standby that has not confirmed for so long is down: new commands are refused at once instead of waiting as well. */
  confirmationOverdueMs: 2_000,
  /** Connections of one node for reads and workers. */
  databaseConnectionsMax: 10,
  /** The write path has its own, so that slow reads never keep a transfer waiting. */
  writePathConnectionsMax: 8,
  /** A statement of the service that runs longer is a fault, not work. Audits and migrations set their own. */
  statementTimeoutMs: 10_000,
  /** A server that does not answer at all; later than its own limit, so that it speaks first when it can. */
  answerTimeoutMs: 12_000,
  /**
   * Longest wait for another session's row lock. Batches hold locks for milliseconds. Longer than a frozen node of ours
   * can hold one (`batchIdleTimeoutMs`), so that those who wait for it get the lock instead of a 503.
   */
  lockTimeoutMs: 2_000,
  /** After a wait that was in vain, a batch is taken apart to find the command at fault: each part waits only this long. */
  lockTimeoutImpatientMs: 100,
  /** A row that the same transaction has locked at two looks this far apart, after such a wait, counts as stuck. */
  stuckLookMs: 100,
  /** The server ends a session that stands still inside a transaction, with its locks. */
  idleInTransactionTimeoutMs: 10_000,
  /** The same for batches, whose locks others wait for: they stand still for milliseconds, unless the node is frozen. */
  batchIdleTimeoutMs: 1_000,
  databaseConnectTimeoutMs: 3_000,
  /** How often a node reads the database's clock: how late it notices that this was set. One small query each time. */
  serverClockReadMs: 1_000,
  /** Disabling waits for batches in flight, longer than one may take. What still runs then is a foreign transaction. */
  statusWaitMs: 15_000,
  /** Closing the pool waits that long for connections in use, then cuts them. */
  databaseCloseMs: 3_000,
  /** Audits, migrations: as long as they take, within reason. */
  patientStatementTimeoutMs: 24 * 3_600_000,
  /** How often a node looks for a migration that waits for it, and while it is refused, whether it is admitted again. */
  schemaLookMs: 1_000,
  /**
   * How long a migration waits for nodes to let go of the schema lock. They look every second and cut connections in use
   * after `databaseCloseMs`; a node that needs longer is frozen, or a long read holds the lock.
   */
  migrationGraceMs: 15_000,
  /** How long a migration waits, after the grace, until the connections that it ended are gone. */
  migrationTerminationMs: 5_000,
  /** A migration gives up waiting for a table before the statements that queue behind it do (`lockTimeoutMs`). */
  migrationLockTimeoutMs: 1_000,
  /** Attempts and the pause between them: about 20 s, in which the queue behind a migration drains each time. */
  migrationAttemptsMax: 10,
  migrationPauseMs: 1_000,
  /** How often a migration that waits looks at what blocks it. */
  migrationLookMs: 200,
  /** Sessions that an error lists one by one: enough to find the nodes they belong to. */
  blockersShownMax: 10,
  /**
   * How long a start waits for a database that does not answer: the two are often started together, and PostgreSQL may
   * have to recover first. Whoever supervises the process starts it again after that.
   */
  databaseStartWaitMs: 60_000,
  databaseStartPollMs: 500,
  /** How often a service that npm started looks whether npm is still there. */
  parentLookMs: 250,
  /** Violations that an audit lists one by one; beyond that it only says that there are more. */
  auditViolationsMax: 100,
  /** From the signal to the end of the process. */
  shutdownMs: 9_000,
  /** Deltas of the service's own accounts that one roll-up folds. */
  rollupDeltasMax: 10_000,
  rollupIntervalMs: 1_000,
  /** How often the metrics' audit runs. It reads every entry, so not often. */
  auditIntervalMs: 15 * 60_000,
  /** The first one soon after the start: until then the metric says NaN. */
  auditFirstMs: 2_000,
  pageLimitDefault: 100,
  pageLimitMax: 1_000,
  filterValuesMax: 100,
  /** Rows that a page of a list scans when combined filters match hardly any: 50 to 100 ms. */
  listScanMax: 20_000,
  /** Broken fields that a 400 lists; a body of 256 KiB could break thousands. */
  errorsShownMax: 100,
  /** A request must have arrived completely by then: a slow sender must not hold a connection, or a shutdown, forever. */
  requestArrivalMs: 30_000,
  requestHeadersMs: 10_000,
  /** A stop waits that long for requests in flight, then closes their connections. */
  requestsFinishMs: 5_000,
  /** Requests of one client at once; more get a 429, so that nobody fills the queue for everybody. */
  clientRequestsMax: 2_000,
  /** No request nests JSON deeper, and walking a deeper one could exhaust the stack. */
  jsonDepthMax: 32,
  requestBodyBytesMax: 256 * 1024,
  requestIdLengthMax: 128,
  refIdLengthMax: 128,
  metadataPairsMax: 6,
  metadataTextMax: 100,
  /** Memos of all withdrawals; a fiat rail may allow less. */
  memoLengthMax: 500,
  beneficiaryNameMax: 200,
  /** In filters. Solana's signatures are the longest: 88 characters. */
  cryptoTxHashMax: 128,
  /** Transactions, references, accounts and assets of deposits, as rails name them: the longest line of ISO 20022. */
  depositTextMax: 140,
  /** Bitcoin numbers outputs with 32 bits; no block has as many logs or instructions. */
  outputNumberMax: 4_294_967_295,
  /** Units that can arrive: the largest number of an EVM token. What the ledger cannot hold is kept in suspense. */
  arrivedUnitsMax: 2n ** 256n - 1n,
  /** How long a guaranteed fee is valid. */
  guaranteedFeeMs: 15 * 60_000,
  /** Lifetime of access tokens; also how long a retired key must still verify. */
  accessTokenSeconds: 3_600,
  /** A retired key verifies for a token's lifetime and this: nodes sign with it for seconds more, clocks differ. */
  signingKeyGraceMs: 5 * 60_000,
  /** How often a node asks for new keys and disabled clients. */
  authPollMs: 3_000,
  /** Knowledge older than this is renewed before it is used: with the query it stays within the promised 10 seconds. */
  authStaleMs: 7_000,
  /** A token with an unknown key makes a node look again, all such tokens together at most once in this time. */
  keyReloadIntervalMs: 250,
  /** Tokens whose verification is remembered: about 1 KB each. */
  verifiedTokensMax: 20_000,
  /** Clients whose facts a node keeps and asks for in each poll, with one statement. */
  knownClientsMax: 10_000,
  /** Our own have about 900 characters; an external issuer may add claims. */
  accessTokenLengthMax: 8_192,
  /** Secrets checked at once: half of the runtime's four threads, 16 MiB and about 50 ms each. */
  secretChecksMax: 2,
  /** Token requests that may wait for that: about a second. More get a 503 with Retry-After. */
  secretChecksWaitingMax: 32,
  /** Wrong secrets for one client id within the window before its token requests are refused. */
  failedAttemptsMax: 10,
  failedAttemptsWindowMs: 60_000,
  /** Client ids with failures that are remembered. Filling it takes 10,000 checks, longer than the window lasts. */
  failedAttemptsClientsMax: 10_000,
  /** A token request is a few short fields. */
  tokenRequestBytesMax: 16 * 1024,
  clientIdLengthMax: 128,
  /** Names of customers and clients. */
  partyNameLengthMax: 100,
  /** An external token is verified again after this: its issuer may have withdrawn the key, or we the customer. */
  externalTokenMs: 5 * 60_000,
  /** After a look at an external issuer's keys, unknown keys are refused without another look for this long. */
  externalKeysCooldownMs: 5_000,
  /** An external issuer's keys are fetched again after this: so long a key that it withdrew is still accepted. */
  externalKeysMs: 10 * 60_000,
  externalKeysTimeoutMs: 3_000,
  /** Members that one request adds, each with a lookup; the account itself may have any number. */
  accountMembersMax: 100,
  /** Names of profiles, persons and institutions: enough for any real one, short enough for one line of a list. */
  nameLengthMax: 140,
  /** Free text about a profile or an account: a paragraph. */
  descriptionLengthMax: 500,
  /** Legs of one settlement transaction: all are posted in one transaction, on at most twice as many balances. */
  settlementLegsMax: 100,
  settlementWindowDefaultMs: 24 * 3_600_000,
  /** How far away the end of a settlement window may be: an abandoned obligation has to expire. */
  settlementWindowAheadMaxMs: 90 * 24 * 3_600_000,
  /** Transactions that settle in one command, where each is covered once those before it are: about 5 ms of a batch. */
  settlementChunkMax: 12,
  /** Between two such commands of one look the engine pauses for this many times what the last one took, … */
  settlementBulkPause: 1.5,
  /** … unless a window ends within this time. */
  settlementUrgentMs: 15_000,
  /** Transactions that the engine looks at because of what happened to them; the next page waits for this one. */
  settlementPageMax: 128,
  /**
   * Transactions that are looked at together, those around a page included. A set that could only settle as a whole,
   * and is larger, is not found; each of its members is still tried by itself and with its nearest ones. Choosing
   * among so many takes 5 ms, and 50 ms at worst: legs by the dozen between few profiles, and nothing fits.
   */
  settlementSetMax: 256,
  /** Legs of those: one command posts at most `commandPostingsMax`, and half of that already takes 0.2 s. */
  settlementSetLegsMax: 5_000,
  /** Steps of the search for a set, in one look; about 10 ms. Past it the best set found so far is taken. */
  settlementSearchStepsMax: 5_000,
  /** How often a plan that others overtook is made again at once; after that the rest waits for the next look. */
  settlementPlansMax: 3,
  /** How often one node looks for what other nodes, or a crash, left to do: credits, affirmations, windows. */
  settlementPollMs: 200,
  /** How often a node tries to become the one that looks. */
  settlementLeadMs: 1_000,
  /** A waited-for balance that keeps growing is looked at again after this at the earliest, … */
  settlementRetryMs: 20,
  /** … and after this many times what the last look took, if it was in vain: so at most a fifth of the time. */
  settlementRetryPause: 4,
  /** Balances waited for that a node knows by heart; growth of any other is found by the poll. */
  settlementWatchedMax: 50_000,
  /** How often it refreshes them, including what other nodes wait for; less often if that takes more than 10 ms. */
  settlementWatchRefreshMs: 1_000,
  /** A transaction that could not be tried because of a bug is left alone for this long, … */
  settlementSetAsideMs: 60_000,
  /** … and for this long if a session holds on to its balances: each try makes a whole batch wait for the lock. */
  settlementBusyMs: 10_000,
  /** Names and address lines of bank accounts: the longest text that ISO 20022 has for them. */
  bankTextMax: 140,
  bankZipCodeMax: 16,
  /** The longest IBAN; also the longest account that a SWIFT message can name. */
  bankAccountNumberMax: 34,
  /** Accounts and wallets on bank networks, whose form is theirs. */
  bankNetworkAccountMax: 128,
  /** How often a node looks for withdrawals that are due, when the last look found none. */
  withdrawalPollMs: 200,
  /** Payments that one node has with one rail at once: a slow rail fills its own lane and no other. */
  railCallsMax: 16,
  /** A rail that does not answer within this has not said anything. */
  railCallTimeoutMs: 10_000,
  /** Somebody waits for the answer that a quote is part of. */
  railQuoteTimeoutMs: 1_000,
  /** How long a worker has a withdrawal to itself: longer than a call, a commit and a pause together. */
  withdrawalLeaseMs: 30_000,
  /** A stopping node waits that long for calls in flight. */
  workerStopMs: 3_000,
  /** Back-off after a rail was not available: doubles from the one to the other. */
  railBackoffFirstMs: 1_000,
  railBackoffMaxMs: 5 * 60_000,
  /** Answers in a row that a rail is not available, after which it is only tried with one payment at a time. */
  railFailuresMax: 3,
  /** Longest pause between two of those: how much later than the rail itself its payments are back. */
  railPauseMaxMs: 30_000,
  /** How often a node looks for withdrawals whose time is further away than it can have been set: see `withdrawalAskMaxMs`. */
  withdrawalAheadLookMs: 60_000,
  /** A payment that a rail has is asked about after this at the latest, whatever the rail or a wrong clock said. */
  withdrawalAskMaxMs: 3_600_000,
  /** Withdrawals of a reviewed fiat account that are made due in one transaction. */
  withdrawalsWokenMax: 1_000,
  /** Notices of rails that are taken at once. */
  railNoticesMax: 100,
  railNoticesPollMs: 1_000,
  /** Notices that failed, and are passed over until they are tried again: beyond it they hold up the others. */
  railNoticesRestingMax: 10_000,
  /** Why a fiat account was approved or rejected. */
  reviewReasonMax: 500,
  /** Rows of a backlog that a metric counts: a larger number would mean nothing new. */
  backlogCountMax: 10_000,
  /** How often the database is probed during an outage, to log its end. */
  outageLookMs: 1_000,
  /** Backlogs are read at most that often, and waited for at most that long; then the metrics omit them. */
  backlogReadIntervalMs: 1_000,
  backlogReadMs: 2_000,
  /** Events become readable at most this long after their commit, while others keep committing; see 0008-event-order. */
  eventSequenceIntervalMs: 10,
  /** How soon a node notices what other nodes committed or sequenced: one small query each time. */
  eventPollMs: 200,
  /** Groups of events that get their positions in one go: a few milliseconds. */
  eventSequenceGroupsMax: 2_000,
  /** How far apart the feed's marks are: reading from a time on starts at most this much too early. */
  eventMarkIntervalMs: 60_000,
  /** Events that a filtered page looks at, however few of them fit: about 50 ms. */
  eventScanMax: 20_000,
  /** Events of one batch: their lines are the last four digits of their ids. */
  batchEventsMax: 65_535,
  /** Packed events up to this size are not compressed: a row with more would be stored in pieces. */
  eventPlainBytesMax: 1_600,
  /** What is read of the feed at once: groups of events, and bytes of packed ones, unless one has more by itself. */
  eventReadGroupsMax: 2_000,
  eventReadBytesMax: 512 * 1024,
  eventTypesMax: 50,
  eventTypeLengthMax: 100,
  eventWaitSecondsMax: 30,
  /** Long polls that one customer may have waiting on one node. */
  eventWaitersMax: 100,
  /** Streams of one customer on one node: dashboards, not machines; those read the feed. */
  eventStreamsMax: 10,
  /** Proxies close what is silent for a minute. */
  eventHeartbeatMs: 15_000,
  /** Events that a stream reads at once. */
  eventStreamPageMax: 100,
  /** How often a stream's token is looked at again: it ends when the token expires or the client is disabled. */
  streamAuthenticateMs: 5_000,
  /** Per customer. Each has a place in the feed, which is looked at when there is news. */
  webhookEndpointsMax: 20,
  webhookUrlLengthMax: 2_048,
  /** Looking up a host name when an endpoint is registered. */
  webhookLookupMs: 2_000,
  /** From the start of the connection to the status of the answer. */
  webhookTimeoutMs: 10_000,
  /** The answer's body is only for people who look at deliveries: so many bytes of it, for so long. */
  webhookResponseBytesMax: 4_096,
  webhookResponseBodyMs: 2_000,
  /** Requests under way to one endpoint: a slow receiver holds no more than these. */
  webhookConcurrency: 16,
  /** Deliveries of one endpoint that are not done: beyond it, events wait in the feed, where they cost nothing. */
  webhookPendingMax: 1_000,
  /** Events that are taken from the feed for an endpoint at once. */
  webhookFanOutMax: 200,
  /** How soon after one another a node looks into the feed for one endpoint, and for endpoints that have news. */
  webhookFanOutIntervalMs: 50,
  webhookLookIntervalMs: 25,
  /** Endpoints that one node delivers to at the same time; other nodes take the others. */
  webhookRunnersMax: 200,
  /** Statements of webhook work under way at once: the write path needs connections more. */
  webhookStatementsMax: 3,
  /** How long a node that died keeps an endpoint from the others. Longer than a request, and then some. */
  webhookLeaseMs: 30_000,
  webhookLeaseRenewMs: 2_000,
  /** How often a node looks for deliveries that are due. News of the feed wake it earlier. */
  webhookPollMs: 1_000,
  /** Failures in a row that open an endpoint's circuit breaker. */
  webhookBreakerFailures: 10,
  /** While it is open, one request at a time, that far apart: doubled each time. */
  webhookProbeMinMs: 10_000,
  webhookProbeMaxMs: 10 * 60_000,
  /** A delivery is given up, and an endpoint without any success disabled, after three days. */
  webhookGiveUpMs: 72 * 3_600_000,
  /** After a rotation both secrets sign for a day. */
  webhookSecretOverlapMs: 24 * 3_600_000,
  /** Secrets that are tried with the key at a start, some 5 µs each: one key has sealed them all, or hardly any. */
  webhookSecretsCheckedMax: 10_000,
  /** Test events under way on one node. */
  webhookTestsMax: 8,
  /** Deliveries that ended are shown for a month. */
  webhookRetentionMs: 30 * 24 * 3_600_000,
  webhookRetentionIntervalMs: 60_000,
  webhookRetentionRowsMax: 5_000,
} as const;
