import type { Instant } from '../kernel/instant.ts';

/** A bank account that money can be sent to. */
export const FIAT_KINDS = ['wire', 'cubix', 'bank_network_2', 'bank_network_3', 'cbit'] as const;
export type FiatKind = (typeof FIAT_KINDS)[number];

export type FiatAccount = {
  readonly id: string;
  readonly customerId: string;
  readonly status: 'PENDING' | 'APPROVED' | 'REJECTED';
  readonly kind: FiatKind;
  readonly fiatAccountOwner: Readonly<Record<string, unknown>>;
  readonly fiatNetworkInstructions: Readonly<Record<string, unknown>>;
  readonly refId: string | null;
  readonly identityId: string | null;
  readonly accountId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly deletedAtNs: Instant | null;
};
