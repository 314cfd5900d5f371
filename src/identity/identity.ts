import { formatInstant, type Instant } from '../kernel/instant.ts';

export type PersonDetails = { readonly first_name: string; readonly last_name: string };
export type InstitutionDetails = { readonly name: string };

/** A person or an institution that a customer acts for. It has one kind of details, according to its type. */
export type Identity = {
  readonly id: string;
  readonly customerId: string;
  readonly type: 'PERSON' | 'INSTITUTION';
  readonly personDetails: PersonDetails | null;
  readonly institutionDetails: InstitutionDetails | null;
  readonly status: 'APPROVED' | 'DISABLED';
  readonly refId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
};

/** As users see it. Absent fields are left out, never null. */
export function presentIdentity(identity: Identity): Record<string, unknown> {
  return {
    id: identity.id,
    type: identity.type,
    person_details: identity.personDetails ?? undefined,
    institution_details: identity.institutionDetails ?? undefined,
    status: identity.status,
    ref_id: identity.refId ?? undefined,
    metadata: identity.metadata ?? undefined,
    created_at: formatInstant(identity.createdAtNs),
    updated_at: formatInstant(identity.updatedAtNs),
  };
}
