import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { FiatNetwork } from '../networks/schema.ts';

/** Whom a deposit belongs to, and what is copied into it. */
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

/** A way in over a crypto network: whatever arrives there is this profile's. Never changes. */
export type DepositAddress = Way & { readonly cryptoNetwork: CryptoNetwork; readonly address: string };

/** A way in over a bank: whatever arrives with this memo is this profile's. Never changes. */
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

/** Capital letters and digits, as bank forms keep them; people add blanks and dashes. */
export function normalisedMemo(memo: string): string {
  return memo.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
}
