import type { Static } from 'typebox';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { FiatKind, FiatNetworkInstructions } from '../networks/fiat.ts';
import { type AddressShape, MASK, type RoutingDetailsShape } from '../networks/instructions.ts';
import type { Networks } from '../networks/register.ts';

export type { FiatKind, FiatNetworkInstructions } from '../networks/fiat.ts';
export type { Networks } from '../networks/register.ts';

/** The space of `ref_id`. */
export const FIAT_ACCOUNT_SPACE = 'fiat_accounts';

export const FIAT_ACCOUNT_STATUSES = ['PENDING', 'APPROVED', 'REJECTED'] as const;
export type FiatAccountStatus = (typeof FIAT_ACCOUNT_STATUSES)[number];

export type Address = Static<ReturnType<typeof AddressShape>>;
export type RoutingDetails = Static<ReturnType<typeof RoutingDetailsShape>>;

/** Exactly one of the two is present. */
export type FiatAccountOwner = {
  readonly person_details?: { readonly first_name: string; readonly last_name: string };
  readonly institution_details?: { readonly name: string };
};

/** A bank account that money can be sent to. */
export type FiatAccount = {
  readonly id: string;
  readonly customerId: string;
  readonly status: FiatAccountStatus;
  readonly kind: FiatKind;
  readonly fiatAccountOwner: FiatAccountOwner;
  /** With whole account numbers, as payments need them. Answers and events use `presentFiatAccount`. */
  readonly fiatNetworkInstructions: FiatNetworkInstructions;
  readonly refId: string | null;
  readonly identityId: string | null;
  readonly accountId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly deletedAtNs: Instant | null;
  /** Of the last review, as the customer is shown it; null while it is PENDING. */
  readonly reason: string | null;
  /** `updatedAtNs` of the stored row that this one was read from; null when it is new. The store checks it on write. */
  readonly versionNs: Instant | null;
};

/** Shows the last four characters; none if the number has no more than four. */
export function masked(number: string): string {
  return number.length > 4 ? MASK + number.slice(-4) : MASK;
}

/** Masks the field that names the account, whatever the kind calls it. */
function maskedInstructions(
  instructions: FiatNetworkInstructions,
  networks: Networks,
): FiatNetworkInstructions {
  const entries = Object.entries(instructions).map(([kind, fields]) => {
    const { field } = networks.fiat(kind as FiatKind).instructions.account;
    return [kind, { ...fields, [field]: masked(fields[field as keyof typeof fields]) }];
  });
  return Object.fromEntries(entries) as FiatNetworkInstructions;
}

function erasedOwner({ person_details: person }: FiatAccountOwner): FiatAccountOwner {
  return person === undefined
    ? { institution_details: { name: MASK } }
    : { person_details: { first_name: MASK, last_name: MASK } };
}

/** The part of a deleted account that is kept: its bank, the country of its owner, and the last four characters of its number. */
export function erasedAccount(
  account: Pick<FiatAccount, 'fiatAccountOwner' | 'fiatNetworkInstructions'>,
  networks: Networks,
): Pick<FiatAccount, 'fiatAccountOwner' | 'fiatNetworkInstructions'> {
  const instructions = maskedInstructions(account.fiatNetworkInstructions, networks);
  const kept = Object.entries(instructions).map(([kind, fields]) => {
    const { fiat_account_owner_address: address } = fields as { fiat_account_owner_address?: Address };
    const rest = address && { fiat_account_owner_address: { country: address.country } };
    return [kind, { ...fields, ...rest }];
  });
  return {
    fiatAccountOwner: erasedOwner(account.fiatAccountOwner),
    fiatNetworkInstructions: Object.fromEntries(kept) as FiatNetworkInstructions,
  };
}

/** What replaces the same fields in earlier events of a deleted account. */
export function erasedFields({
  fiatAccountOwner,
  fiatNetworkInstructions,
}: ReturnType<typeof erasedAccount>) {
  return { fiat_account_owner: fiatAccountOwner, fiat_network_instructions: fiatNetworkInstructions };
}

function fieldsOf(account: FiatAccount, instructions: FiatNetworkInstructions) {
  return {
    id: account.id,
    fiat_account_owner: account.fiatAccountOwner,
    fiat_network_instructions: instructions,
    status: account.status,
    ...(account.status === 'REJECTED' && account.reason !== null && { reason: account.reason }),
    ...(account.refId !== null && { ref_id: account.refId }),
    ...(account.identityId !== null && { identity_id: account.identityId }),
    ...(account.accountId !== null && { account_id: account.accountId }),
    ...(account.metadata !== null && { metadata: account.metadata }),
    created_at: formatInstant(account.createdAtNs),
    updated_at: formatInstant(account.updatedAtNs),
    ...(account.deletedAtNs !== null && { deleted_at: formatInstant(account.deletedAtNs) }),
  };
}

/** With the whole number, for a reviewer. Never for customers, lists or events. */
export function presentWhole(account: FiatAccount) {
  return { customer_id: account.customerId, ...fieldsOf(account, account.fiatNetworkInstructions) };
}

/**
 * As every other answer shows it. The answer to the create request is masked as well: a replay has the same answer, and a client
 * that repeats a `ref_id`, or gets a 409 with `existing`, need not be the one that entered the number.
 */
export function presentFiatAccount(account: FiatAccount, networks: Networks) {
  return fieldsOf(account, maskedInstructions(account.fiatNetworkInstructions, networks));
}
