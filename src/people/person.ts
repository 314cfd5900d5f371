import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { Role } from './roles.ts';

export type Person = {
  readonly id: string;
  /** Null: of the operator. */
  readonly customerId: string | null;
  readonly roles: readonly Role[];
  readonly name: string;
  readonly email: string;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly disabledAtNs: Instant | null;
  /** Passkeys that the person can sign in with. */
  readonly passkeys: number;
};

export const METHODS = ['PASSKEY', 'OPENID', 'DEMO'] as const;
export type Method = (typeof METHODS)[number];

/** Where a session was started from, for the person to recognize it. */
export type Source = { readonly address?: string | undefined; readonly userAgent?: string | undefined };

export type Session = {
  readonly id: string;
  readonly personId: string;
  readonly customerId: string | null;
  readonly method: Method;
  readonly source: Source;
  readonly createdAtNs: Instant;
  readonly authenticatedAtNs: Instant;
  readonly usedAtNs: Instant;
  readonly expiresAtNs: Instant;
};

export type Passkey = {
  readonly id: string;
  readonly personId: string;
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: bigint;
  readonly name: string;
  readonly createdAtNs: Instant;
  readonly usedAtNs: Instant | null;
};

export function presentPerson(person: Person) {
  const { id, customerId, name, email, roles, passkeys, createdAtNs, updatedAtNs, disabledAtNs } = person;
  return {
    id,
    ...(customerId !== null && { customer_id: customerId }),
    name,
    email,
    roles: [...roles],
    status: disabledAtNs === null ? ('ACTIVE' as const) : ('DISABLED' as const),
    passkeys,
    created_at: formatInstant(createdAtNs),
    updated_at: formatInstant(updatedAtNs),
  };
}

export function presentSession(session: Session) {
  const { id, method, source, createdAtNs, authenticatedAtNs, usedAtNs, expiresAtNs } = session;
  return {
    id,
    method,
    ...(source.address !== undefined && { address: source.address }),
    ...(source.userAgent !== undefined && { user_agent: source.userAgent }),
    created_at: formatInstant(createdAtNs),
    authenticated_at: formatInstant(authenticatedAtNs),
    used_at: formatInstant(usedAtNs),
    expires_at: formatInstant(expiresAtNs),
  };
}

export function presentPasskey({ id, name, createdAtNs, usedAtNs }: Passkey) {
  return {
    id,
    name,
    created_at: formatInstant(createdAtNs),
    ...(usedAtNs !== null && { used_at: formatInstant(usedAtNs) }),
  };
}
