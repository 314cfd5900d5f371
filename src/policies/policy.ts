import type { Static } from 'typebox';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { DAYS, PolicyDocument, WINDOWS } from './schema.ts';

/** What a policy says. */
export type Rule = { readonly name: string } & (
  | { readonly type: 'amount_limit'; readonly asset: string; readonly max: string }
  | {
      readonly type: 'velocity';
      readonly asset: string;
      readonly max: string;
      readonly window: (typeof WINDOWS)[number];
      readonly per: 'PROFILE' | 'CUSTOMER' | 'ALL';
    }
  | { readonly type: 'destinations'; readonly listed_only: boolean; readonly cooling_off_hours: number }
  | {
      readonly type: 'business_hours';
      readonly time_zone: string;
      readonly days: readonly (typeof DAYS)[number][];
      readonly from: string;
      readonly to: string;
    }
  | { readonly type: 'approval'; readonly asset: string; readonly above: string }
  | { readonly type: 'screening'; readonly hook: string }
);

export type Document = {
  readonly applies_to?: {
    readonly customer_ids?: readonly string[];
    readonly profile_ids?: readonly string[];
    readonly rails?: readonly string[];
    readonly assets?: readonly string[];
  };
  readonly rules: readonly Rule[];
};
export type RuleOf<Type extends Rule['type']> = Extract<Rule, { type: Type }>;

export type Policy = {
  readonly id: string;
  /** Null: the operator's, for the withdrawals of all customers. */
  readonly customerId: string | null;
  readonly name: string;
  readonly version: number;
  readonly enabled: boolean;
  readonly document: Document;
  readonly changedBy: string;
  readonly reason: string;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
};

/** The policies that are in force for a customer, and how a command recognises that they still are. */
export type PolicySet = {
  readonly customerId: string;
  readonly policies: readonly Policy[];
  readonly operatorEpoch: bigint;
  readonly customerEpoch: bigint;
};

/** What rules are about. */
export type Subject = {
  readonly customerId: string;
  readonly profileId: string;
  readonly asset: string;
  /** 'wire', 'BITCOIN', … */
  readonly rail: string;
  /** As `destinationOf` names it. */
  readonly destination: string;
  readonly units: bigint;
};

export const OPERATOR = 'operator';

/** Who may release what the policy holds. */
export const ownerOf = ({ customerId }: Pick<Policy, 'customerId'>): string => customerId ?? OPERATOR;

export function destinationOf(
  to: { readonly fiatAccountId: string } | { readonly network: string; readonly address: string },
): string {
  return 'address' in to ? `${to.network}/${to.address}` : `fiat_account/${to.fiatAccountId}`;
}

const within = (list: readonly string[] | undefined, value: string): boolean =>
  list === undefined || list.includes(value);

/** Whether the policy is about the withdrawal. The rail may not be known yet. */
export function appliesTo(
  { document, customerId, enabled }: Policy,
  subject: Omit<Subject, 'rail' | 'destination' | 'units'> & { readonly rail?: string },
): boolean {
  const scope = document.applies_to ?? {};
  return (
    enabled &&
    (customerId === null || customerId === subject.customerId) &&
    within(scope.customer_ids, subject.customerId) &&
    within(scope.profile_ids, subject.profileId) &&
    within(scope.assets, subject.asset) &&
    (subject.rail === undefined || within(scope.rails, subject.rail))
  );
}

/** The same, as the schema has it. */
type PresentedDocument = Static<typeof PolicyDocument>;

export function presentPolicy(policy: Policy) {
  const { customerId, document } = policy;
  return {
    id: policy.id,
    ...(customerId !== null && { customer_id: customerId }),
    name: policy.name,
    version: policy.version,
    enabled: policy.enabled,
    ...(document as PresentedDocument),
    changed_by: policy.changedBy,
    reason: policy.reason,
    created_at: formatInstant(policy.createdAtNs),
    updated_at: formatInstant(policy.updatedAtNs),
  };
}
