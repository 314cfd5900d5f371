import { administratorOf } from '../auth/changes.ts';
import type { Database } from '../database/database.ts';
import { untilRunningEnded } from '../database/running.ts';
import { setIdentityStatus } from '../identity/store.ts';
import { isId } from '../kernel/id.ts';
import { setProfileStatus } from '../profiles/store.ts';
import { retryWaitingForParty } from '../settlement/engine-store.ts';
import { vaultOf } from '../vault.ts';
import { CommandError, type CommandLine, show, UsageError, withDatabase } from './command-line.ts';

/** Commands that disable a profile or an identity, and enable it again. */
type Subject = {
  readonly noun: 'profile' | 'identity';
  /** What disabling it means. */
  readonly meaning: string;
  /** False if there is none with that id. */
  set(database: Database, id: string, enabled: boolean): Promise<boolean>;
};

const PROFILE: Subject = {
  noun: 'profile',
  meaning: [
    'A disabled profile cannot start anything new: no transfers or withdrawals from or to it, no settlement transactions',
    'or affirmations, no new deposit addresses or instructions. Deposits that arrive for it are kept in suspense.',
    'Affirmed settlement transactions wait: they settle once the profile is enabled, or expire at the end of their',
    'window. Pending withdrawals are paid.',
  ].join('\n'),
  set: setProfile,
};

/** Enabling is one transaction with the wake-up of what waits for it, so that neither happens without the other. */
export function setProfile(database: Database, id: string, enabled: boolean): Promise<boolean> {
  return database.transaction(async (tx) => {
    const isThere = await setProfileStatus(
      tx,
      id,
      enabled ? 'ACTIVE' : 'DISABLED',
      administratorOf(database),
    );
    if (isThere && enabled) await retryWaitingForParty(tx, id);
    return isThere;
  });
}

const IDENTITY: Subject = {
  noun: 'identity',
  meaning: [
    'A request that names a disabled identity, or an account that it owns, is refused: transfers, withdrawals, fiat',
    'accounts, profiles, accounts and members. Its profiles are not disabled with it.',
  ].join('\n'),
  set: (database, id, enabled) =>
    database.transaction((tx) =>
      setIdentityStatus(tx, id, enabled ? 'APPROVED' : 'DISABLED', administratorOf(database)),
    ),
};

function commandOf({ noun, meaning, set }: Subject, enabled: boolean): CommandLine {
  const verb = enabled ? 'enable' : 'disable';
  return {
    name: `${noun} ${verb}`,
    summary: `${verb} ${noun === 'identity' ? 'an' : 'a'} ${noun}${enabled ? ' again' : ''}; takes effect at once`,
    usage: `${noun} ${verb} <${noun}_id> [--json]`,
    details: meaning,
    json: true,
    async run(invocation) {
      const [id, extra] = invocation.positionals;
      if (id === undefined || extra !== undefined) throw new UsageError(`Expected one ${noun}_id.`);
      return withDatabase(invocation, async (database) => {
        // What the audit log keeps of an identity is sealed.
        await vaultOf(invocation.config, database);
        if (!isId(id) || !(await set(database, id, enabled))) {
          throw new CommandError(`There is no ${noun} with the id "${id}".`);
        }
        const inForce = await untilRunningEnded(database);
        const done = `${enabled ? 'Enabled' : 'Disabled'} ${id}.`;
        show(
          invocation,
          { [`${noun}_id`]: id, disabled: !enabled, in_force: inForce },
          inForce
            ? done
            : `${done} A transaction that began earlier is still running and may not see the change.`,
        );
        return 0;
      });
    },
  };
}

export const STATUS_COMMANDS: readonly CommandLine[] = [PROFILE, IDENTITY].flatMap((subject) => [
  commandOf(subject, false),
  commandOf(subject, true),
]);
