import type { Logger } from 'pino';
import type { Declare } from './approvals/action.ts';
import type { Approvals } from './approvals/capability.ts';
import { createAuditLog } from './audit-log/capability.ts';
import type { Refusal } from './audit-log/refusals.ts';
import { createClientAdministration } from './auth/capability.ts';
import { stagedUnderWay } from './banks/under-way-store.ts';
import { createBooks } from './books/capability.ts';
import { signedUnderWay } from './chains/under-way-store.ts';
import type { Config } from './config/config.ts';
import { createConversions } from './conversions/capability.ts';
import type { Database } from './database/database.ts';
import { createDeposits } from './deposits/capability.ts';
import { createEvents } from './events/capability.ts';
import { createFees } from './fees/capability.ts';
import { createFiatAccounts } from './fiat-accounts/capability.ts';
import { createFreezes } from './freezes/capability.ts';
import type { Metrics } from './http/metrics.ts';
import { createIdentities } from './identity/capability.ts';
import { createJournal } from './journal/capability.ts';
import type { Capability } from './kernel/capability.ts';
import type { Clock } from './kernel/clock.ts';
import type { Signal } from './kernel/signal.ts';
import type { SourceOf } from './kernel/source-address.ts';
import type { Vault } from './kernel/vault.ts';
import type { BalanceKey } from './ledger/command.ts';
import type { HandOver } from './ledger/hand-over.ts';
import type { WritePath } from './ledger/write-path.ts';
import { createPolicies } from './policies/capability.ts';
import { createProfiles, writeProfileOfAccount } from './profiles/capability.ts';
import type { RailAdapter } from './rails/kind.ts';
import { createRails, type Rails } from './rails/rail.ts';
import { createReconciliation } from './reconciliation/capability.ts';
import { createSandbox, createSimulation } from './sandbox/capability.ts';
import { createSearch } from './search/capability.ts';
import { createSettlement } from './settlement/capability.ts';
import { SHARED_TABLES } from './tables.ts';
import type { TransferAccess } from './transfers/access.ts';
import { createTransfers } from './transfers/capability.ts';
import { TRANSFER_EVENT_EXAMPLE } from './transfers/examples.ts';
import { createTreasury } from './treasury/capability.ts';
import { createWebhooks } from './webhooks/capability.ts';
import { createWithdrawals } from './withdrawals/capability.ts';
import { resumeFrozen, submissionsUnderWay } from './withdrawals/freeze-store.ts';

/** What nearly every part of a running node depends on. */
export type Node = {
  readonly config: Config;
  readonly assets: Config['assets'];
  readonly networks: Config['networks'];
  readonly database: Database;
  /** Seals what must not be readable in a copy of the database. Stores reach it through the database. */
  readonly vault: Vault;
  readonly logger: Logger;
  /** For background work: reports an outage of the database once, however many workers notice it. */
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** The database's clock. */
  readonly clock: Clock;
  /** The address that a request comes from. */
  readonly sourceOf: SourceOf;
  /** Sent after every commit on this node, with the balances that it changed. */
  readonly committed: Signal<readonly BalanceKey[]>;
  /** Sent when the event feeds of these customers have grown. */
  readonly feedGrown: Signal<readonly string[]>;
  /** Sent when an attempt at a privileged action was refused. */
  readonly refused: Signal<Refusal>;
  readonly metrics: Metrics;
  /** To the node that decides, if it is another one. */
  readonly handOver: HandOver;
};

/** The configured rails, and in the sandbox simulated ones for the rest. */
function connected(opened: readonly RailAdapter[], simulated: Rails | undefined): Rails {
  return createRails(
    [...opened.map(({ rail }) => rail), ...(simulated?.list ?? [])],
    [...opened.flatMap(({ notices }) => notices ?? []), ...(simulated?.notices ?? [])],
  );
}

/** Simulates the rails that are not configured. */
function simulationBeside(node: Node, opened: readonly RailAdapter[]) {
  return createSimulation(node, node.config.sandboxSpeed, new Set(opened.map(({ rail }) => rail.name)));
}

/** What an opened rail adds to the service. Its workers run only where workers run. */
function capabilityOf(adapter: RailAdapter, works: boolean): Capability {
  const { rail, notices: _, treasury: __, workers = [], ...adds } = adapter;
  return { ...adds, name: `${rail.name} rail`, workers: works ? workers : [] };
}

/** Banks and wallets beside the ledger. */
function outsideOf(
  shared: Parameters<typeof createReconciliation>[0] & Pick<Node, 'log'>,
  opened: readonly RailAdapter[],
): Capability[] {
  const reconciliation = createReconciliation(shared);
  const treasuries = opened.flatMap(({ treasury }) => treasury ?? []);
  return [reconciliation, createTreasury({ ...shared, treasuries, banks: reconciliation.lastBalances })];
}

/** Operations that only simulate do not exist in production. */
const withoutSimulation = (one: Capability): Capability => ({
  ...one,
  routes: (one.routes ?? []).filter(({ sandboxOnly }) => sandboxOnly !== true),
});

type Shared = Node & typeof SHARED_TABLES & { readonly writePath: WritePath };

/** The event feed, and webhooks, for the events of all other capabilities. */
function createFeeds(
  shared: Shared,
  capabilities: readonly Capability[],
  transfers: TransferAccess,
): Capability[] {
  const eventTypes = capabilities.flatMap((one) => one.eventTypes ?? []);
  const webhooks = createWebhooks({
    ...shared,
    reach: shared.config.mode === 'sandbox' ? 'anywhere' : 'public',
    eventTypes,
    attempted: shared.metrics.webhookAttempted,
  });
  const events = createEvents({
    ...shared,
    eventTypes: [...eventTypes, ...(webhooks.eventTypes ?? [])],
    batchesOf: transfers.batchesOf,
    example: TRANSFER_EVENT_EXAMPLE,
  });
  return [events, webhooks];
}

/** Freezes, of everything that moves value. */
function createFreezing(
  shared: Shared & { readonly declare: Declare },
  settlement: Pick<ReturnType<typeof createSettlement>, 'resumeFrozen'>,
): Capability {
  return createFreezes({
    ...shared,
    underWay: [submissionsUnderWay, signedUnderWay, stagedUnderWay],
    resumes: [resumeFrozen, settlement.resumeFrozen],
    works: shared.config.workers,
  });
}

type Given = {
  readonly ownRails?: Rails | undefined;
  readonly opened: readonly RailAdapter[];
  readonly approvals: Approvals;
};

/** Everything that the service can do, in the order of the API reference. */
export function createCapabilities(
  node: Node,
  writePath: WritePath,
  { ownRails, opened, approvals }: Given,
): Capability[] {
  const { config, metrics } = node;
  const { prices, rentLamportsPerDayMax, mode } = config;
  const isSandbox = mode === 'sandbox';
  const { declare } = approvals;
  const shared = { ...node, ...SHARED_TABLES, writePath, declare, schedule: config.fees, prices };
  const simulated = isSandbox ? simulationBeside(node, opened) : undefined;
  const rails = ownRails ?? connected(opened, simulated);
  const profiles = createProfiles(shared);
  const transfers = createTransfers(shared);
  const deposits = createDeposits({ ...shared, rails, transferById: transfers.byId });
  const policies = createPolicies({ ...shared, hooks: config.screening, works: config.workers });
  const withdrawals = createWithdrawals({
    ...shared,
    ...policies.guards,
    rails,
    transfers,
    deposit: deposits.arrivals.arrive,
    returned: (notice) => journal.returned(notice),
    rentLamportsPerDayMax,
    callsRails: config.workers,
    called: metrics.railCalled,
  });
  const fiatAccounts = createFiatAccounts({ ...shared, approvesAutomatically: isSandbox });
  const settlement = createSettlement({ ...shared, disabledProfiles: profiles.disabledProfiles });
  const conversions = createConversions(shared);
  const journal = createJournal({ ...shared, deposits, withdrawals, settlement, transfers, fiatAccounts });
  const capabilities: Capability[] = [
    transfers,
    withdrawals,
    createFees({ ...shared, rails }),
    conversions,
    deposits,
    fiatAccounts,
    profiles,
    createIdentities({ ...shared, profileOfAccount: writeProfileOfAccount }),
    settlement,
    journal,
    createFreezing(shared, settlement),
    policies,
    createBooks({ ...shared, profiles, transfers, settlement, deposits, journal, conversions }),
    ...outsideOf({ ...shared, transfers, deposits, journal }, opened),
    approvals,
    createClientAdministration({ ...shared, simulates: isSandbox }),
    createAuditLog({ ...shared, batchesOf: transfers.batchesOfAny }),
    createSearch(shared),
    ...opened.map((adapter) => capabilityOf(adapter, config.workers)),
  ];
  if (simulated !== undefined)
    capabilities.push(
      createSandbox({ ...shared, simulated, transfers, withdrawals, arrivals: deposits.arrivals }),
    );
  const feeds = createFeeds(shared, capabilities, transfers);
  return [...capabilities, ...feeds].map((one) => (isSandbox ? one : withoutSimulation(one)));
}
