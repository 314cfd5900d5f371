import { notFound, Problem } from './problem.ts';

/** What rules need to know about a profile. */
export type ProfileFacts = {
  readonly id: string;
  readonly customerId: string;
  /** FROZEN: active, but a freeze of the profile, its customer, the owner of its account or the platform stops everything. */
  readonly status: 'ACTIVE' | 'DISABLED' | 'FROZEN';
  /** Profiles of other customers that may pay it and propose settlements to it; null: all of them. */
  readonly acceptedProfileIds: readonly string[] | null;
};

export function disabledProblem(profile: Pick<ProfileFacts, 'id' | 'status'>): Problem | undefined {
  if (profile.status === 'ACTIVE') return undefined;
  const what = profile.status === 'FROZEN' ? 'frozen' : 'disabled';
  return new Problem('forbidden', `Profile ${profile.id} is ${what}.`, { profile_id: profile.id });
}

/**
 * Whether the sender may pay the profile or propose a settlement to it. For another customer, a profile that is disabled or frozen, or
 * that does not accept the sender, does not exist: the answer is the one for an unknown id.
 */
export function recipientProblem(
  profile: ProfileFacts | undefined,
  id: string,
  sender: { readonly customerId: string; readonly profileId: string },
): Problem | undefined {
  if (profile === undefined) return notFound('profile', id);
  if (profile.customerId === sender.customerId) return disabledProblem(profile);
  const { status, acceptedProfileIds } = profile;
  const accepts = acceptedProfileIds === null || acceptedProfileIds.includes(sender.profileId);
  return status === 'ACTIVE' && accepts ? undefined : notFound('profile', id);
}
