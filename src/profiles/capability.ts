import type { CustomerReads } from '../database/database.ts';
import type { Capability } from '../kernel/capability.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Write, write } from '../ledger/command.ts';
import { PROFILE_PROBLEMS } from './problem-examples.ts';
import { nicknameKey, type Profile, profileOfAccount } from './profile.ts';
import { type ProfileDependencies, profileRoutes } from './routes.ts';
import { disabledProfiles, findProfile, newProfiles } from './store.ts';

type Profiles = Capability & {
  readonly disabledProfiles: typeof disabledProfiles;
  /** A profile of that customer; undefined for a profile of another one. */
  find(own: CustomerReads, id: string): Promise<Profile | undefined>;
};

/** Profiles, and the balances that they hold. */
export function createProfiles(dependencies: ProfileDependencies): Profiles {
  return {
    name: 'profiles',
    routes: profileRoutes(dependencies),
    tags: { Profiles: 'Profiles hold value, with a balance for each asset.' },
    problemExamples: PROFILE_PROBLEMS,
    disabledProfiles,
    find: (own, id) => findProfile(own, own.customerId, id),
  };
}

/** Writes the profile that is created together with an account. */
export function writeProfileOfAccount(
  id: string,
  account: { readonly id: string; readonly customerId: string },
  now: Instant,
): Write {
  const profile = profileOfAccount(id, account, now);
  return write(newProfiles, nicknameKey(profile.customerId, profile.nickname), profile);
}
