import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { FiatNetwork } from '../networks/schema.ts';

/** The owner of a deposit, and what is copied into its transfer. */
export type DepositOwner = {
  readonly customerId: string;
  readonly profileId: string;
  readonly identityId: string | null;
  readonly accountId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
};

/** What deposits are sent to: an address on a crypto network, or a bank account with a memo. */
export type DepositTarget = DepositOwner & {
  readonly id: string;
  readonly refId: string | null;
  readonly createdAtNs: Instant;
};

/** An address that belongs to a profile: every deposit to it is credited to the profile. It never changes. */
export type DepositAddress = DepositTarget & {
  readonly cryptoNetwork: CryptoNetwork;
  readonly address: string;
};

/** A memo that belongs to a profile: every bank deposit with it is credited to the profile. It never changes. */
export type DepositInstructions = DepositTarget & {
  readonly kind: FiatKind;
  readonly memoId: string;
  /** The operator's own account. */
  readonly instructions: object;
};

function presentTarget(target: DepositTarget) {
  return {
    id: target.id,
    customer_id: target.customerId,
    profile_id: target.profileId,
    created_at: formatInstant(target.createdAtNs),
    ...(target.refId !== null && { ref_id: target.refId }),
    ...(target.identityId !== null && { identity_id: target.identityId }),
    ...(target.accountId !== null && { account_id: target.accountId }),
    ...(target.metadata !== null && { metadata: target.metadata }),
  };
}

export function presentDepositAddress(target: DepositAddress) {
  return { ...presentTarget(target), crypto_network: target.cryptoNetwork, address: target.address };
}

export function kindOfNetwork(network: FiatNetwork): FiatKind {
  return network.toLowerCase() as FiatKind;
}

export function presentInstructions(target: DepositInstructions) {
  return {
    ...presentTarget(target),
    fiat_network: target.kind.toUpperCase() as FiatNetwork,
    memo_id: target.memoId,
    fiat_network_instructions: target.instructions,
  };
}

/** Upper-case letters and digits, as bank forms keep them; payers add blanks and dashes. */
export function normalisedMemo(memo: string): string {
  return memo.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
}
