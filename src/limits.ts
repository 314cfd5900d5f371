import { AUDIT_LIMITS } from './limits-audit.ts';
import { BOOK_LIMITS } from './limits-books.ts';
import { CHAIN_LIMITS } from './limits-chains.ts';
import { CONTROL_LIMITS } from './limits-control.ts';
import { EVENT_LIMITS } from './limits-events.ts';
import { HTTP_LIMITS } from './limits-http.ts';
import { NODE_LIMITS } from './limits-nodes.ts';
import { PEOPLE_LIMITS } from './limits-people.ts';
import { POLICY_LIMITS } from './limits-policies.ts';
import { SIGNER_LIMITS } from './limits-signer.ts';
import { SOLANA_LIMITS } from './limits-solana.ts';

/** Every bound of the service in one place, each with its reason. */
export const LIMITS = {
  ...AUDIT_LIMITS,
  ...CONTROL_LIMITS,
  ...HTTP_LIMITS,
  ...EVENT_LIMITS,
  ...BOOK_LIMITS,
  ...CHAIN_LIMITS,
  ...SOLANA_LIMITS,
  ...SIGNER_LIMITS,
  ...PEOPLE_LIMITS,
  ...POLICY_LIMITS,
  ...NODE_LIMITS,
  /** Commands that may wait for the write path. At 10,000 a second a full queue is one second of waiting. */
  queueCommandsMax: 10_000,
  /** Commands in one batch: large enough to share one commit, small enough to keep the slowest caller's wait short. */
  batchCommandsMax: 512,
  /** Batches of the pessimistic lane in flight: while the database works on one, the next one is prepared. */
  batchesMax: 2,
  /** Minimum number of queued commands for a second batch, so that enough commands share its fixed cost. */
  secondBatchCommandsMin: 128,
  /** The same on a cluster, for each server that rows are on. */
  secondBatchPerServerMin: 64,
  /** Batches of the optimistic lane in flight: more than two, so that the database has work while the node answers many. */
  flightsMax: 4,
  /** Minimum size of the last batch at which the next one waits for more commands to arrive. */
  gatherCommandsMin: 4,
  /** How long it waits after the end of the last batch. For a few commands, the fixed cost of a batch is a third of the total. */
  gatherMs: 1,
  /** On a cluster, the transfers of a node go to one shard after the other: long enough for a batch or more, short enough to spread them. */
  shardTurnMs: 100,
  /** Ids that are tried until both sides of a transfer are in that shard: with 32 shards one of 1,024 is, and 1,000 take 15 µs. */
  shardTrialsMax: 32_768,
  /** Ids that are tried until one is found for each server, once for each change of the shards: with 64 servers about 400, of 1 µs each. */
  homeTrialsMax: 4_096,
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
  /** How far ahead of the database's clock a node's instants may be: more than synchronized clocks differ. */
  clockAheadMaxMs: 1_000,
  /**
   * How far ahead of the clock the last entry of a balance may be before commands on it are refused. A clock that was
   * wrong by hours must not stop payments; one that was wrong by days must not spread to every balance that this one
   * trades with.
   */
  instantAheadMaxMs: 24 * 3_600_000,
  /** How often a batch is tried, after deadlocks and missing balance rows, before its commands are refused. */
  batchAttemptsMax: 5,
  /** How long callers wait for the outcome of a commit that was cut off before they get a 503. */
  commitInDoubtMs: 8_000,
  /** How often the database is asked about the outcome. */
  commitInDoubtLookMs: 100,
  /** Timeout of one wait for the standby's confirmation; the next one uses a new connection, in case the old one is dead. */
  confirmationMs: 60_000,
  /** If the standby has not confirmed for this long, it counts as down: new commands are refused instead of waiting too. */
  confirmationOverdueMs: 2_000,
  /** Connections of one node for reads and workers. */
  databaseConnectionsMax: 10,
  /** The write path has its own connections, so that slow reads never delay a transfer. */
  writePathConnectionsMax: 8,
  /** Readiness has its own connection: a busy node is still ready. */
  healthConnectionsMax: 1,
  /** A statement that runs longer is a bug. Audits and migrations set their own limit. */
  statementTimeoutMs: 10_000,
  /** For a server that does not answer at all. Longer than `statementTimeoutMs`, so that the server's own error comes first. */
  answerTimeoutMs: 12_000,
  /**
   * Longest wait for a row lock of another session. Batches hold locks for milliseconds. Longer than a frozen node can
   * hold one (`batchIdleTimeoutMs`), so that commands waiting for such a node get the lock instead of a 503.
   */
  lockTimeoutMs: 2_000,
  /** After a lock timeout, a batch is bisected to isolate the blocked command: each part waits only this long. */
  lockTimeoutImpatientMs: 100,
  /** After a lock timeout: a row that the same transaction holds at two looks this far apart counts as stuck. */
  stuckLookMs: 100,
  /** The server ends a session, and releases its locks, if it is idle inside a transaction for this long. */
  idleInTransactionTimeoutMs: 10_000,
  /** The same for batches, whose locks others wait for. They are idle for milliseconds, unless the node is frozen. */
  batchIdleTimeoutMs: 1_000,
  databaseConnectTimeoutMs: 3_000,
  /** How often a node reads the database's clock, and so how late it notices that the clock was set. One small query. */
  serverClockReadMs: 1_000,
  /** Disabling waits for batches in flight. Longer than any batch may take: what still runs then is not a batch. */
  statusWaitMs: 15_000,
  /** A freeze waits for calls of rails that began before it: longer than a call and the commit of its answer. */
  freezeWaitMs: 15_000,
  /** Withdrawals, and settlement transactions, that are resumed in one statement after a freeze was lifted. */
  freezeResumedMax: 1_000,
  /** How often a node looks for freezes that were lifted. One small query. */
  freezeResumePollMs: 500,
  /** Text of the reasons that operators give. */
  reasonLengthMax: 500,
  /** Closing the pool waits this long for connections in use, then cuts them. */
  databaseCloseMs: 3_000,
  /** For audits and migrations, which may take hours. */
  patientStatementTimeoutMs: 24 * 3_600_000,
  /** How often a node checks whether a migration waits for it; while it is refused: whether it is admitted again. */
  schemaLookMs: 1_000,
  /**
   * How long a migration waits for nodes to release the schema lock. They check every second and cut connections in use
   * after `databaseCloseMs`; a node that needs longer is frozen, or runs a long read.
   */
  migrationGraceMs: 15_000,
  /** How long a migration waits until connections are gone that it terminated after the grace period, or that are being closed. */
  migrationTerminationMs: 5_000,
  /** A migration gives up waiting for a table before the statements that queue behind it do (`lockTimeoutMs`). */
  migrationLockTimeoutMs: 1_000,
  /** On a cluster: how often it is tried to hold writes for a snapshot of all servers, each time for as long. */
  snapshotAttemptsMax: 10,
  /** Attempts and the pause between them: about 20 s in all. During a pause the statements queued behind it run. */
  migrationAttemptsMax: 10,
  migrationPauseMs: 1_000,
  /** How often a waiting migration checks what blocks it. */
  migrationLookMs: 200,
  /** Sessions that an error lists one by one: enough to find the nodes they belong to. */
  blockersShownMax: 10,
  /**
   * How long a start waits for an unavailable database: the two are often started together, and PostgreSQL may have to
   * recover first. After that the process exits, and its supervisor starts it again.
   */
  databaseStartWaitMs: 60_000,
  databaseStartPollMs: 500,
  /** How often a service that was started by npm checks whether npm is still running. */
  parentLookMs: 250,
  /** From the signal to the end of the process. */
  shutdownMs: 9_000,
  /** Deltas of the service's own accounts that one roll-up adds up. */
  rollupDeltasMax: 10_000,
  rollupIntervalMs: 1_000,
  pageLimitDefault: 100,
  pageLimitMax: 1_000,
  filterValuesMax: 100,
  /** Rows that a page of a list scans when combined filters match hardly any: 50 to 100 ms. */
  listScanMax: 20_000,
  /** Invalid fields that a 400 lists; a body of 256 KiB can have thousands. */
  errorsShownMax: 100,
  /** Time for a request to arrive completely: a slow sender must not hold a connection, or a shutdown, indefinitely. */
  requestArrivalMs: 30_000,
  requestHeadersMs: 10_000,
  /** A stop waits this long for requests in flight, then closes their connections. */
  requestsFinishMs: 5_000,
  /** Concurrent requests of one client; more get a 429, so that one client cannot fill the queue for all. */
  clientRequestsMax: 2_000,
  /** Transfers in one request: a batch and a half, which a node makes in 0.1 to 0.2 s. */
  bulkTransfersMax: 1_000,
  /** Of such a request: 1 KiB for each transfer, of which most have 300 bytes. */
  bulkBodyBytesMax: 1_024 * 1_024,
  /** Nesting of JSON. No valid request is deeper, and walking a deeper one could exhaust the stack. */
  jsonDepthMax: 32,
  /** Values in one body. No valid request has as many; each wrong one is an error, which takes 2 µs to find. */
  jsonValuesMax: 24_000,
  requestBodyBytesMax: 256 * 1024,
  /** Of a body that is too large, so that its sender gets the answer. After a larger one the connection is closed. */
  discardedBodyBytesMax: 16 * 1024 * 1024,
  requestIdLengthMax: 128,
  /** Of the name of a `secondary_status` in a filter: longer than any name. */
  secondaryStatusLengthMax: 64,
  refIdLengthMax: 128,
  metadataPairsMax: 6,
  metadataTextMax: 100,
  /** Memos of all withdrawals; a fiat rail may allow less. */
  memoLengthMax: 500,
  /** Reason and note of a journal entry: a few sentences. */
  journalTextMax: 500,
  beneficiaryNameMax: 200,
  /** In filters. The longest hashes are the signatures of Solana, with 88 characters. */
  cryptoTxHashMax: 128,
  /** Transactions, references, accounts and assets of deposits, as rails report them: the longest line of ISO 20022. */
  depositTextMax: 140,
  /** Bitcoin numbers outputs with 32 bits; no block has that many logs or instructions. */
  outputNumberMax: 4_294_967_295,
  /** The largest amount of a deposit in units: that of an EVM token. What the ledger cannot hold is kept in suspense. */
  arrivedUnitsMax: 2n ** 256n - 1n,
  /** How long a guaranteed fee is valid. */
  guaranteedFeeMs: 15 * 60_000,
  /** Lifetime of access tokens; also how long a retired key must still verify. */
  accessTokenSeconds: 3_600,
  /** A retired key verifies for a token's lifetime plus this: other nodes sign with it for a few more seconds. */
  signingKeyGraceMs: 5 * 60_000,
  /** How often a node polls for new keys and disabled clients. */
  authPollMs: 3_000,
  /** Cached keys and clients older than this are read again before use: with the query within the promised 10 seconds. */
  authStaleMs: 7_000,
  /** A token with an unknown key makes a node reload the keys, at most once per interval for all such tokens. */
  keyReloadIntervalMs: 250,
  /** Verified tokens in the cache: about 1 KB each. */
  verifiedTokensMax: 20_000,
  /** Clients in the cache, which each poll refreshes with one statement. */
  knownClientsMax: 10_000,
  /** Ferry's own tokens have about 900 characters; an external issuer may add claims. */
  accessTokenLengthMax: 8_192,
  /** A token claims at most so much of the future: clocks of issuers and servers differ, but not by more. */
  tokenIssuedAheadMaxMs: 5 * 60_000,
  /** Secrets of one client: the old and the new one while callers change over. */
  clientSecretsMax: 2,
  /** Public keys of one client: those of its instances, and of a rotation. */
  clientKeysMax: 10,

  /** Of a member of a public key: the modulus of an RSA key of 16,384 bits has 2,731 characters. */
  keyMemberLengthMax: 4_096,
  /** The longest id of a key. A thumbprint (RFC 7638) has 43 characters. */
  clientKeyIdLengthMax: 128,
  /** Address ranges of one client: every request of an unknown connection is compared with all of them. */
  clientAddressesMax: 50,
  /** Ids of clients that one query looks up: about a millisecond. */
  clientLookupMax: 500,
  /** Failed logins from one source within the window that are answered with 401; more get 429. Right ones still succeed. */
  failedLoginsMax: 10,
  failedLoginsWindowMs: 60_000,
  /** Sources whose failures are counted: about 100 bytes each. */
  failedLoginSourcesMax: 10_000,
  /** Concurrent checks of secrets in the form of older releases: half of the runtime's four threads, 50 ms each. */
  scryptChecksMax: 2,
  /** Such checks of one source that may wait; sources take turns. */
  scryptChecksPerSourceMax: 4,
  /** How far ahead an assertion may expire (RFC 7523): its id is remembered for that long. */
  assertionSeconds: 300,
  /** How far the clock of a client may be off. */
  assertionToleranceSeconds: 30,
  assertionIdLengthMax: 256,
  /** Tokens of one client that are revoked and have not expired yet: all nodes read them with the client. */
  revokedTokensMax: 1_000,
  /** How often expired assertions and revoked tokens are deleted, and how many at once. */
  authCleanUpMs: 60_000,
  authCleanUpRowsMax: 5_000,
  /** A token request is a few short fields. */
  tokenRequestBytesMax: 16 * 1024,
  clientIdLengthMax: 128,
  /** Names of customers and clients. */
  partyNameLengthMax: 100,
  /** A token of an external issuer counts for so long after it was issued: the default of common issuers. */
  externalTokenSecondsMax: 24 * 3_600,
  /** A token of an external issuer is verified again after this: the issuer may have revoked its key. */
  externalTokenMs: 5 * 60_000,
  /** After the keys of an external issuer were fetched, unknown keys are refused without another fetch for this long. */
  externalKeysCooldownMs: 5_000,
  /** The keys of an external issuer are fetched again after this, so a key that it revoked is accepted for this long. */
  externalKeysMs: 10 * 60_000,
  externalKeysTimeoutMs: 3_000,
  /** Profiles that one profile accepts payments from, if it does not accept everybody. */
  acceptedProfilesMax: 1_000,
  /** Members that one request adds, each with a lookup; the account itself may have any number. */
  accountMembersMax: 100,
  /** Names of profiles, persons and institutions: enough for any real one, short enough for one line of a list. */
  nameLengthMax: 140,
  /** Free text about a profile or an account: a paragraph. */
  descriptionLengthMax: 500,
  /** Legs of one settlement transaction: all are posted in one transaction, on at most twice as many balances. */
  settlementLegsMax: 100,
  settlementWindowDefaultMs: 24 * 3_600_000,
  /** How far ahead the end of a settlement window may be: an abandoned obligation has to expire. */
  settlementWindowAheadMaxMs: 90 * 24 * 3_600_000,
  /** Transactions that one command settles, each covered once those before it have settled: about 5 ms of a batch. */
  settlementChunkMax: 12,
  /** Between two such commands the engine pauses for this many times the duration of the last one, … */
  settlementBulkPause: 1.5,
  /** … unless a window ends within this time. */
  settlementUrgentMs: 15_000,
  /** Transactions that the engine tries at once because something happened to them; the others wait for the next page. */
  settlementPageMax: 128,
  /**
   * Transactions that are planned together: those of a page and those around them. A larger set that can settle only as
   * a whole is not found, but each of its members is still tried by itself and together with its nearest ones. A plan
   * over this many takes 5 ms, and 50 ms in the worst case: dozens of legs between few profiles, none of them covered.
   */
  settlementSetMax: 256,
  /** Legs of these transactions. One command posts at most `commandPostingsMax`; half of that already takes 0.2 s. */
  settlementSetLegsMax: 5_000,
  /** Steps of the search for a set in one plan: about 10 ms. After that the best set found so far is used. */
  settlementSearchStepsMax: 5_000,
  /** How often a plan that became stale is made again at once; after that the rest waits for the next attempt. */
  settlementPlansMax: 3,
  /** How often the leader polls for what other nodes, or a crash, left to do: credits, affirmations, windows. */
  settlementPollMs: 200,
  /** How often a node tries to become the leader. */
  settlementLeadMs: 1_000,
  /** Minimum time between two attempts for a balance that transactions wait for and that keeps growing, … */
  settlementRetryMs: 20,
  /** … and after an attempt in vain this many times its duration: so such attempts take at most a fifth of the time. */
  settlementRetryPause: 4,
  /** Balances that transactions wait for in a node's cache; growth of any other is found by the poll. */
  settlementWatchedMax: 50_000,
  /** How often a node refreshes that cache, including balances of other nodes; less often if it takes more than 10 ms. */
  settlementWatchRefreshMs: 1_000,
  /** A transaction that could not be tried because of a bug is not tried again for this long, … */
  settlementSetAsideMs: 60_000,
  /** … and for this long if another session holds its balances: each attempt makes a whole batch wait for the lock. */
  settlementBusyMs: 10_000,
  /** Names and address lines of bank accounts: the longest text that ISO 20022 allows for them. */
  bankTextMax: 140,
  bankZipCodeMax: 16,
  /** The longest IBAN; also the longest account that a SWIFT message can name. */
  bankAccountNumberMax: 34,
  /** Accounts and wallets on bank networks, which define their own formats. */
  bankNetworkAccountMax: 128,
  /** How often a node polls for due withdrawals if the last poll found none. */
  withdrawalPollMs: 200,
  /** Concurrent calls of one node to one rail: a slow rail uses up its own calls and no other rail's. */
  railCallsMax: 16,
  /** Timeout of a call to a rail. After it, the outcome is unknown. */
  railCallTimeoutMs: 10_000,
  /** `ferry rails check` waits this long for a rail: a person waits for the answer. */
  railCheckTimeoutMs: 15_000,
  /** Timeout of a rail's quote: a caller waits for the answer that contains it. */
  railQuoteTimeoutMs: 1_000,
  /** How long a worker leases a withdrawal: longer than a call, a commit and a pause together. */
  withdrawalLeaseMs: 30_000,
  /** A stopping node waits this long for calls in flight. */
  workerStopMs: 3_000,
  /** Back-off after a rail was unavailable: doubles from the first value to the second. */
  railBackoffFirstMs: 1_000,
  railBackoffMaxMs: 5 * 60_000,
  /** Consecutive failures after which an unavailable rail is tried with only one payment at a time. */
  railFailuresMax: 3,
  /** Longest pause between two of those attempts: how much later its payments resume after the rail is available again. */
  railPauseMaxMs: 30_000,
  /** How often a node looks for withdrawals that are due later than can be right: see `withdrawalAskMaxMs`. */
  withdrawalAheadLookMs: 60_000,
  /** A rail is asked about an accepted payment after this at the latest, whatever the rail or a wrong clock said. */
  withdrawalAskMaxMs: 3_600_000,
  /** Withdrawals of a reviewed fiat account that are made due in one transaction. */
  withdrawalsWokenMax: 1_000,
  /** Notices of rails that are read at once. */
  railNoticesMax: 100,
  railNoticesPollMs: 1_000,
  /** Failed notices that are skipped until their retry. If there are more, they delay the others. */
  railNoticesRestingMax: 10_000,
  /** Why a fiat account was approved or rejected. */
  reviewReasonMax: 500,
  /** Rows of a backlog that a metric counts: beyond that, the exact number does not matter. */
  backlogCountMax: 10_000,
  /** How often the database is probed during an outage, to log its end. */
  outageLookMs: 1_000,
  /** Backlogs are read at most this often, and with this timeout; if it passes, the metrics omit them. */
  backlogReadIntervalMs: 1_000,
  backlogReadMs: 2_000,
  /** Events of one batch: their lines are the last four digits of their ids. */
  batchEventsMax: 65_535,
  /** How often the token of a stream is checked again: the stream ends when it expires or its client is disabled. */
  streamAuthenticateMs: 5_000,
  /** Rows from before sealing that are looked at in one transaction: 5 ms of computing, if all of them have to be sealed. */
  sealRowsMax: 500,
  /** How long a node has for them before another one takes over. */
  sealLeaseMs: 30_000,
  /** How often a node looks whether another one that seals such rows has left some. */
  sealLookMs: 5_000,
  /** Sealing that takes longer is worth a line in the log, at this interval. */
  sealReportMs: 2_000,
} as const;
