import type { components, Ferry } from '@ferry/client';
import { type Me, may } from '~/app/session.ts';
import { formatAmount } from '~/lib/money.ts';
import { counted, words } from '~/lib/words.ts';
import type { IconName } from '~/ui/icon.tsx';

type OpenWithdrawal = components['schemas']['OpenWithdrawal'];

/** One thing that waits: what it is, why, since when, and where somebody can do something about it. */
export type Item = {
  readonly id: string;
  readonly what: string;
  readonly why: string;
  readonly since?: string;
  readonly to: string;
};

export type Queue = {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** How bad it is that something is here. */
  readonly tone: 'bad' | 'warn';
  /** What it means, and what to do. */
  readonly about: string;
  /** Where all of them are. */
  readonly all: string;
  readonly scopes: readonly string[];
  /** Oldest first, at most 100. */
  read(ferry: Ferry): Promise<Item[]>;
};

/** As many as are counted; there may be more. */
export const READ_MAX = 100;
const OLDEST = { order: 'ASC', limit: READ_MAX } as const;

const money = (amount: string, asset: string): string => `${formatAmount(amount)} ${asset}`;

const itemOf = (one: OpenWithdrawal): Item => ({
  id: one.transfer_id,
  what: `${money(one.amount, one.asset)} over ${one.rail}`,
  why: one.detail ?? words(one.state),
  since: one.created_at,
  to: `/operator/withdrawals/${one.transfer_id}`,
});

/** What a withdrawal waits for that the rail has nothing to do with. */
export const HELD = new Set([
  'AWAITING_APPROVAL',
  'AWAITING_SCREENING',
  'AWAITING_FIAT_ACCOUNT_APPROVAL',
  'COOLING_OFF',
  'OUTSIDE_BUSINESS_HOURS',
  'FROZEN',
]);

const READ = ['operator:read'];
const REVIEW = ['operator:review'];
const CONTRADICTION_DAYS = 30;

export const QUEUES: readonly Queue[] = [
  {
    id: 'unknown',
    title: 'Unknown outcomes',
    icon: 'alert',
    tone: 'bad',
    about:
      'The rail does not say whether it has the payment. Ask the bank, then resolve it with the evidence.',
    all: '/operator/withdrawals?states=UNKNOWN',
    scopes: READ,
    read: async (ferry) =>
      (await ferry.listOpenWithdrawals({ states: ['UNKNOWN'], ...OLDEST })).items.map(itemOf),
  },
  {
    id: 'approvals',
    title: 'Approvals',
    icon: 'shield',
    tone: 'warn',
    about: 'Somebody proposed an action that needs other eyes. Nothing happens before they approve it.',
    all: '/operator/approvals?statuses=PENDING',
    scopes: READ,
    read: async (ferry) =>
      (await ferry.listOperatorApprovals({ statuses: ['PENDING'], ...OLDEST })).items.map((one) => ({
        id: one.id,
        what: one.summary,
        why: `${one.votes.length} of ${counted(one.quorum, 'approval')}`,
        since: one.created_at,
        to: `/operator/approvals/${one.id}`,
      })),
  },
  {
    id: 'held',
    title: 'Withdrawals on hold',
    icon: 'clock',
    tone: 'warn',
    about:
      'A policy, a freeze or a review keeps them from their rail. Some need a decision, others only time.',
    all: '/operator/withdrawals?states=QUEUED',
    scopes: READ,
    read: async (ferry) =>
      (await ferry.listOpenWithdrawals({ states: ['QUEUED'], ...OLDEST })).items
        .filter((one) => HELD.has(one.waits_for ?? ''))
        .map(itemOf),
  },
  {
    id: 'rails',
    title: 'Rails that do not answer',
    icon: 'refresh',
    tone: 'bad',
    about: 'Calls of the rail failed. Payments are retried by themselves; nothing is sent twice.',
    all: '/operator/rails',
    scopes: READ,
    read: async (ferry) => {
      const { items } = await ferry.listOpenWithdrawals({ order: 'ASC', limit: 1_000 });
      const failing = items.filter((one) => one.failures > 0 && one.state !== 'UNKNOWN');
      return [...Map.groupBy(failing, (one) => one.rail)].map(([rail, some]) => ({
        id: rail,
        what: rail,
        why: `${counted(some.length, 'withdrawal')} could not be handed over`,
        since: some[0]!.created_at,
        to: `/operator/withdrawals?rails=${rail}`,
      }));
    },
  },
  {
    id: 'lanes',
    title: 'Wallets and lanes',
    icon: 'vault',
    tone: 'bad',
    about: 'A wallet runs low, differs from the ledger, or a lane has stopped.',
    all: '/operator/treasury',
    scopes: READ,
    read: async (ferry) =>
      (await ferry.getTreasury({})).alarms.map((one) => ({
        id: `${one.rail} ${one.asset ?? ''} ${one.reason}`,
        what: `${one.rail} ${one.asset ?? ''}`,
        why: one.detail,
        to: '/operator/treasury',
      })),
  },
  {
    id: 'suspense',
    title: 'Deposits in suspense',
    icon: 'inbox',
    tone: 'warn',
    about: 'Money arrived that belongs to nobody known. Credit it to a profile, or return it to its sender.',
    all: '/operator/suspense?statuses=OPEN',
    scopes: REVIEW,
    read: async (ferry) =>
      (await ferry.listSuspenseDeposits({ statuses: ['OPEN'], ...OLDEST })).items.map((one) => ({
        id: one.id,
        what: `${money(one.amount ?? one.amount_units, one.asset)} over ${one.rail}`,
        why: one.reason,
        since: one.created_at,
        to: `/operator/suspense?open=${one.id}`,
      })),
  },
  {
    id: 'reviews',
    title: 'Fiat accounts to review',
    icon: 'bank',
    tone: 'warn',
    about: 'Withdrawals to these accounts wait until somebody has approved them.',
    all: '/operator/reviews',
    scopes: REVIEW,
    read: async (ferry) =>
      (await ferry.listFiatAccountsForReview({ statuses: ['PENDING'], ...OLDEST })).items.map((one) => ({
        id: one.id,
        what: `Account of customer ${one.customer_id.slice(-6)}`,
        why: one.findings.map((finding) => finding.reason).join(' ') || 'The automatic checks found nothing',
        since: one.created_at,
        to: `/operator/reviews?open=${one.id}`,
      })),
  },
  {
    id: 'contradictions',
    title: 'Contradictions',
    icon: 'scales',
    tone: 'bad',
    about: `A rail reported something else than what is recorded, in the last ${CONTRADICTION_DAYS} days. Nothing was posted.`,
    all: '/operator/contradictions',
    scopes: READ,
    read: async (ferry) => {
      const since = new Date(Date.now() - CONTRADICTION_DAYS * 86_400_000).toISOString();
      const { items } = await ferry.listRailContradictions({ 'created_at.gte': since, ...OLDEST });
      return items.map((one) => ({
        id: `${one.transfer_id} ${one.created_at}`,
        what: `${one.rail} reported ${words(one.reported).toLowerCase()}, recorded is ${words(one.recorded).toLowerCase()}`,
        why: one.detail,
        since: one.created_at,
        to: `/operator/withdrawals/${one.transfer_id}`,
      }));
    },
  },
  {
    id: 'freezes',
    title: 'Freezes in force',
    icon: 'snow',
    tone: 'warn',
    about: 'What is frozen moves no value until somebody lifts the freeze.',
    all: '/operator/freezes?statuses=IN_FORCE',
    scopes: READ,
    read: async (ferry) =>
      (await ferry.listFreezes({ statuses: ['IN_FORCE'], ...OLDEST })).items.map((one) => ({
        id: one.id,
        what: one.scope === 'PLATFORM' ? 'The whole platform' : `${words(one.scope)} ${one.subject_id ?? ''}`,
        why: one.reason,
        since: one.created_at,
        to: `/operator/freezes?open=${one.id}`,
      })),
  },
];

export const queuesFor = (me: Me): readonly Queue[] => QUEUES.filter(({ scopes }) => may(me, ...scopes));
