import type { Static } from 'typebox';
import type { Database, Transaction } from '../database/database.ts';
import { recordChanges } from '../events/append.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { balancesOf } from '../ledger/balances.ts';
import { type Profile, presentBalance, presentProfile } from './profile.ts';
import type { UpdateProfileRequest } from './schema.ts';
import { changeProfile, isNicknameTaken, lockProfile } from './store.ts';

type Request = Static<typeof UpdateProfileRequest>;
type Change = (tx: Transaction, profile: Profile) => Promise<Profile>;

/** Changes a profile of the caller in one transaction, with a line in the audit log. */
async function change(
  database: Database,
  caller: Caller,
  id: string,
  action: string,
  changed: Change,
): Promise<Profile> {
  return database.transaction(async (tx) => {
    const profile = await lockProfile(tx, caller.customerId, id);
    if (profile === undefined) throw notFound('profile', id);
    const wanted = await changed(tx, profile);
    if (wanted === profile) return profile;
    const result = await changeProfile(tx, wanted);
    if ('taken' in result) throw nicknameTaken(result.taken);
    const { changed: row } = result;
    await recordChanges(tx, actorOf(caller), [
      {
        action,
        customerId: row.customerId,
        resourceId: row.id,
        at: row.updatedAtNs,
        after: presentProfile(row),
      },
    ]);
    return row;
  });
}

function nicknameTaken(existing: Profile): Problem {
  const detail = `A profile with the nickname "${existing.nickname}" already exists.`;
  return new Problem('already-exists', detail, { existing: presentProfile(existing), differs: ['id'] });
}

/** Absent fields keep their values. What has these values already is not changed, so that a retry is safe. */
export async function updateProfile(
  database: Database,
  caller: Caller,
  id: string,
  request: Request,
): Promise<Profile> {
  const apply: Change = async (_tx, profile) => {
    const { nickname = profile.nickname, description = profile.description } = request;
    const isSame = nickname === profile.nickname && description === profile.description;
    return isSame ? profile : { ...profile, nickname, description };
  };
  const attempt = () => change(database, caller, id, 'profile.updated', apply);
  try {
    return await attempt();
  } catch (error) {
    // Another request took the nickname between the look and the change: the next look sees it.
    if (!isNicknameTaken(error)) throw error;
    return attempt();
  }
}

/** Only an empty profile: its value could not be sent anywhere afterwards. */
export function deactivateProfile(
  database: Database,
  assets: Assets,
  caller: Caller,
  id: string,
): Promise<Profile> {
  return change(database, caller, id, 'profile.deactivated', async (tx, profile) => {
    if (profile.status === 'DISABLED') return profile;
    const balances = await balancesOf(tx, id);
    const left = balances.filter(({ available, held }) => available > 0n || held > 0n);
    if (left.length > 0)
      throw notEmpty(
        profile,
        left.map((one) => presentBalance(one, assets)),
      );
    return { ...profile, status: 'DISABLED' };
  });
}

export function notEmpty(
  { id, status }: Pick<Profile, 'id' | 'status'>,
  balances: readonly ReturnType<typeof presentBalance>[],
): Problem {
  const assets = balances.map(({ asset }) => asset).join(', ');
  const detail = `Profile ${id} still has a balance of ${assets}. Move it to another profile first.`;
  return new Problem('invalid-state', detail, { status, balances });
}
