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

type Way = DepositOwner & {
  readonly id: string;
  readonly refId: string | null;
  readonly createdAtNs: Instant;
};

/** An address that belongs to a profile: every deposit to it is credited to the profile. It never changes. */
export type DepositAddress = Way & { readonly cryptoNetwork: CryptoNetwork; readonly address: string };

/** A memo that belongs to a profile: every bank deposit with it is credited to the profile. It never changes. */
export type DepositInstructions = Way & {
  readonly kind: FiatKind;
  readonly memoId: string;
  /** The operator's own account. */
  readonly instructions: object;
};

function presentWay(way: Way) {
  return {
    id: way.id,
    customer_id: way.customerId,
    profile_id: way.profileId,
    created_at: formatInstant(way.createdAtNs),
    ...(way.refId !== null && { ref_id: way.refId }),
    ...(way.identityId !== null && { identity_id: way.identityId }),
    ...(way.accountId !== null && { account_id: way.accountId }),
    ...(way.metadata !== null && { metadata: way.metadata }),
  };
}

export function presentDepositAddress(way: DepositAddress) {
  return { ...presentWay(way), crypto_network: way.cryptoNetwork, address: way.address };
}

export function kindOfNetwork(network: FiatNetwork): FiatKind {
  return network.toLowerCase() as FiatKind;
}

export function presentInstructions(way: DepositInstructions) {
  return {
    ...presentWay(way),
    fiat_network: way.kind.toUpperCase() as FiatNetwork,
    memo_id: way.memoId,
    fiat_network_instructions: way.instructions,
  };
}

/** Upper-case letters and digits, as bank forms keep them; payers add blanks and dashes. */
export function normalisedMemo(memo: string): string {
  return memo.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
}
