import { type Actor, isSameHand } from '../kernel/actor.ts';
import { formatInstant, INSTANT_MAX, type Instant } from '../kernel/instant.ts';
import { type Hours, isOpen, nextOpening } from './hours.ts';

/** What is needed to recognise the hand that requested a withdrawal. */
export type Requester = Pick<Actor, 'kind' | 'id' | 'ownerPersonId'>;

/** What a withdrawal waits for because of a policy, as it was when the withdrawal was requested. */
export type Hold = {
  readonly policyId: string;
  readonly rule: string;
  /** Who may release it: 'operator', or the id of the customer whose policy it is. */
  readonly owner: string;
} & (
  | { readonly kind: 'SCREENING'; readonly hook: string; readonly passed?: true }
  | {
      readonly kind: 'APPROVAL';
      readonly releasedBy?: string;
      /** Who requested the withdrawal: somebody else has to release it. */
      readonly requestedBy?: Requester;
    }
  /** In nanoseconds, as text. */
  | { readonly kind: 'COOLING_OFF'; readonly until: string }
  | { readonly kind: 'BUSINESS_HOURS'; readonly hours: Hours }
);

export type HoldKind = Hold['kind'];

export type Waits = {
  /** As `secondary_status` shows it. */
  readonly words: { readonly name: string; readonly detail: string };
  readonly kind: HoldKind;
  /** When to look again; at the end of time if somebody has to release it. */
  readonly dueAtNs: Instant;
};

/** Screening first, so that the people who approve know its result; hours last, because they pass. */
const ORDER: readonly HoldKind[] = ['SCREENING', 'APPROVAL', 'COOLING_OFF', 'BUSINESS_HOURS'];

function waitsFor(hold: Hold, now: Instant): Waits | undefined {
  const { kind, rule } = hold;
  switch (kind) {
    case 'SCREENING':
      if (hold.passed === true) return undefined;
      return {
        kind,
        dueAtNs: now,
        words: { name: 'AWAITING_SCREENING', detail: `Waiting for its screening (rule "${rule}").` },
      };
    case 'APPROVAL':
      if (hold.releasedBy !== undefined) return undefined;
      return {
        kind,
        dueAtNs: INSTANT_MAX,
        words: {
          name: 'AWAITING_APPROVAL',
          detail: `Waiting for an approval (rule "${rule}"). If it is refused, the withdrawal fails.`,
        },
      };
    case 'COOLING_OFF': {
      const until = BigInt(hold.until);
      if (now >= until) return undefined;
      const at = formatInstant(until);
      return {
        kind,
        dueAtNs: until,
        words: { name: 'COOLING_OFF', detail: `The destination is new: held until ${at} (rule "${rule}").` },
      };
    }
    default: {
      if (isOpen(hold.hours, now)) return undefined;
      const dueAtNs = nextOpening(hold.hours, now);
      const at = formatInstant(dueAtNs);
      return {
        kind,
        dueAtNs,
        words: { name: 'OUTSIDE_BUSINESS_HOURS', detail: `Held until ${at} (rule "${rule}").` },
      };
    }
  }
}

/** The first thing that the withdrawal still waits for; undefined if nothing holds it. */
export function firstWait(holds: readonly Hold[] | null, now: Instant): Waits | undefined {
  for (const kind of ORDER)
    for (const hold of holds ?? []) {
      const waits = hold.kind === kind ? waitsFor(hold, now) : undefined;
      if (waits !== undefined) return waits;
    }
  return undefined;
}

export const screeningOf = (holds: readonly Hold[] | null) =>
  holds?.find((hold) => hold.kind === 'SCREENING' && hold.passed !== true) as
    | Extract<Hold, { kind: 'SCREENING' }>
    | undefined;

/** Approvals that this owner may give and has not given. */
export const approvalsOf = (holds: readonly Hold[] | null, owner: string): readonly Hold[] =>
  (holds ?? []).filter(
    (hold) => hold.kind === 'APPROVAL' && hold.owner === owner && hold.releasedBy === undefined,
  );

/** Remembers who requested it, in the holds that somebody else has to release. */
export const requestedBy = (
  holds: readonly Hold[],
  { kind, id, ownerPersonId }: Requester,
): readonly Hold[] =>
  holds.map((hold) =>
    hold.kind === 'APPROVAL'
      ? { ...hold, requestedBy: { kind, id, ...(ownerPersonId !== undefined && { ownerPersonId }) } }
      : hold,
  );

/** Whether this actor, or the same person, requested the withdrawal that these holds are of. */
export const isRequester = (holds: readonly Hold[], actor: Actor): boolean =>
  holds.some(
    (hold) =>
      hold.kind === 'APPROVAL' && hold.requestedBy !== undefined && isSameHand(hold.requestedBy, actor),
  );
