import { formatInstant, type Instant } from '../kernel/instant.ts';

/** What a freeze stops: everything, or what belongs to one customer, identity or profile. */
export const FREEZE_SCOPES = ['PLATFORM', 'CUSTOMER', 'IDENTITY', 'PROFILE'] as const;
export type FreezeScope = (typeof FREEZE_SCOPES)[number];

export type Subject = {
  readonly scope: FreezeScope;
  /** Null for the platform. */
  readonly subjectId: string | null;
};

export const subjectKey = ({ scope, subjectId }: Subject): string => `${scope}/${subjectId ?? ''}`;

export const subjectText = ({ scope, subjectId }: Subject): string =>
  subjectId === null ? 'the platform' : `${scope.toLowerCase()} ${subjectId}`;

export type Freeze = Subject & {
  readonly id: string;
  /** For operators only. */
  readonly reason: string;
  readonly frozenBy: string;
  readonly createdAtNs: Instant;
  readonly liftedBy: string | null;
  readonly liftedBecause: string | null;
  readonly liftedAtNs: Instant | null;
};

export type Frozen = {
  readonly freeze: Freeze;
  /** Every transaction that began before the freeze was committed has ended. */
  readonly isInForce: boolean;
  /** Payments that were being handed to a rail before the freeze, and still are. */
  readonly submissionsUnderWay: number;
};

export function presentFreeze(freeze: Freeze) {
  const { subjectId, liftedBy, liftedBecause, liftedAtNs } = freeze;
  return {
    id: freeze.id,
    scope: freeze.scope,
    ...(subjectId !== null && { subject_id: subjectId }),
    status: liftedAtNs === null ? ('IN_FORCE' as const) : ('LIFTED' as const),
    reason: freeze.reason,
    frozen_by: freeze.frozenBy,
    created_at: formatInstant(freeze.createdAtNs),
    ...(liftedAtNs !== null && {
      lifted_by: liftedBy!,
      lifted_because: liftedBecause!,
      lifted_at: formatInstant(liftedAtNs),
    }),
  };
}

export const presentFrozen = ({ freeze, isInForce, submissionsUnderWay }: Frozen) => ({
  ...presentFreeze(freeze),
  in_force: isInForce,
  submissions_under_way: submissionsUnderWay,
});
