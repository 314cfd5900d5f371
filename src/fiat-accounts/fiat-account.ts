import { formatInstant, type Instant } from '../kernel/instant.ts';

/** A bank account that money can be sent to. */
export const FIAT_KINDS = ['wire', 'cubix', 'bank_network_2', 'bank_network_3', 'cbit'] as const;
export type FiatKind = (typeof FIAT_KINDS)[number];

/** Of ref_ids. */
export const FIAT_ACCOUNT_SPACE = 'fiat_accounts';

export const FIAT_ACCOUNT_STATUSES = ['PENDING', 'APPROVED', 'REJECTED'] as const;
export type FiatAccountStatus = (typeof FIAT_ACCOUNT_STATUSES)[number];

export type Address = {
  readonly country: string;
  readonly address1?: string;
  readonly address2?: string;
  readonly city?: string;
  readonly province?: string;
  readonly zip_code?: string;
};

export type RoutingDetails = {
  readonly routing_number_type: 'ABA' | 'SWIFT';
  readonly routing_number: string;
  readonly bank_name: string;
  readonly bank_address: Address;
};

/** Exactly one of the two is there; likewise exactly one kind of instructions. */
export type FiatAccountOwner = {
  readonly person_details?: { readonly first_name: string; readonly last_name: string };
  readonly institution_details?: { readonly name: string };
};

export type FiatNetworkInstructions = {
  readonly wire?: {
    readonly account_number: string;
    readonly routing_details: RoutingDetails;
    readonly fiat_account_owner_address: Address;
    readonly intermediary_routing_details?: RoutingDetails;
  };
  readonly cubix?: { readonly account_id: string };
  readonly bank_network_2?: { readonly account_number: string };
  readonly bank_network_3?: { readonly account_number: string };
  readonly cbit?: { readonly wallet_address: string };
};

export type FiatAccount = {
  readonly id: string;
  readonly customerId: string;
  readonly status: FiatAccountStatus;
  readonly kind: FiatKind;
  readonly fiatAccountOwner: FiatAccountOwner;
  /** Whole, as payments need them: whatever leaves the service goes through `presentFiatAccount`. */
  readonly fiatNetworkInstructions: FiatNetworkInstructions;
  readonly refId: string | null;
  readonly identityId: string | null;
  readonly accountId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly deletedAtNs: Instant | null;
  /** `updatedAtNs` of the stored row that this one came from; null when it is new. The store checks it on writing. */
  readonly versionNs: Instant | null;
};

const MASK = '****';

/** The last four characters. One so short that they would be all of it shows none. */
export function masked(number: string): string {
  return number.length > 4 ? MASK + number.slice(-4) : MASK;
}

/** What names the account at its bank or network is masked, whatever the kind calls it. */
export function maskedInstructions(instructions: FiatNetworkInstructions): FiatNetworkInstructions {
  const { wire, cubix, bank_network_2, bank_network_3, cbit } = instructions;
  return {
    ...(wire && { wire: { ...wire, account_number: masked(wire.account_number) } }),
    ...(cubix && { cubix: { account_id: masked(cubix.account_id) } }),
    ...(bank_network_2 && { bank_network_2: { account_number: masked(bank_network_2.account_number) } }),
    ...(bank_network_3 && { bank_network_3: { account_number: masked(bank_network_3.account_number) } }),
    ...(cbit && { cbit: { wallet_address: masked(cbit.wallet_address) } }),
  };
}

/**
 * As users see it, in every answer: also in that to the create, since a replay must show the same, and whoever can
 * replay or trip over a ref_id (409 `existing`) is not always whoever typed the number in.
 */
export function presentFiatAccount(account: FiatAccount) {
  return {
    id: account.id,
    fiat_account_owner: account.fiatAccountOwner,
    fiat_network_instructions: maskedInstructions(account.fiatNetworkInstructions),
    status: account.status,
    ...(account.refId !== null && { ref_id: account.refId }),
    ...(account.identityId !== null && { identity_id: account.identityId }),
    ...(account.accountId !== null && { account_id: account.accountId }),
    ...(account.metadata !== null && { metadata: account.metadata }),
    created_at: formatInstant(account.createdAtNs),
    updated_at: formatInstant(account.updatedAtNs),
    ...(account.deletedAtNs !== null && { deleted_at: formatInstant(account.deletedAtNs) }),
  };
}
