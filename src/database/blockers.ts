import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Database, Queryable } from './database.ts';

/** A session that blocks a migration. */
export type Session = {
  readonly pid: number;
  readonly application: string;
  readonly address: string;
  readonly state: string;
};

/** A role without further privileges sees only the application name and the process id. */
const SESSION = `pid, coalesce(nullif(application_name, ''), 'unnamed') as application,
  case when client_port is null then 'address not visible'
       when client_port = -1 then 'local socket' else host(client_addr) end as address,
  coalesce(state, 'state not visible') as state`;

/** Application name, process id, address and state of each: what an operator needs to find it and end it. */
export function describeSessions(sessions: readonly Session[]): string {
  if (sessions.length === 0) return 'a session that could not be identified';
  const shown = sessions.slice(0, LIMITS.blockersShownMax);
  const more = sessions.length > shown.length ? ` and ${sessions.length - shown.length} more` : '';
  const named = shown.map(
    ({ pid, application, address, state }) => `${application} (pid ${pid}, ${address}, ${state})`,
  );
  const noun = sessions.length === 1 ? 'connection' : 'connections';
  return `${sessions.length} ${noun}: ${named.join(', ')}${more}`;
}

async function blockersOf(database: Queryable, pid: number): Promise<Session[]> {
  return database.query<Session>(
    `select ${SESSION} from pg_stat_activity where pid = any (pg_blocking_pids($1)) order by pid`,
    [pid],
  );
}

/**
 * Terminates the sessions that block this one. Fails without the privilege to do so: the wait for the lock then times
 * out, with an error that names the blocking sessions.
 */
export async function terminateBlockers(database: Queryable, pid: number): Promise<void> {
  await database.query(
    'select pg_terminate_backend(pid) from unnest(pg_blocking_pids($1)) as blocking (pid)',
    [pid],
  );
}

/**
 * Sessions of nodes that do not hold the schema lock. Releases from before the lock call their sessions `ferry`. Nothing
 * prevents these nodes from writing, so they must be stopped before the schema changes.
 */
export function unlockedNodes(database: Queryable): Promise<Session[]> {
  return database.query<Session>(
    `select ${SESSION} from pg_stat_activity as session
     where datname = current_database() and application_name = 'ferry' and pid <> pg_backend_pid()
       and not exists (select from pg_locks where pg_locks.pid = session.pid and locktype = 'advisory'
                         and classid = 0 and objid = ${ADVISORY_LOCKS.schema} and granted)
     order by pid`,
  );
}

export type Watch = {
  /** The sessions that were found blocking most recently. */
  last(): readonly Session[];
  stop(): void;
};

/** Polls, on another connection, for the sessions that block this one, which cannot ask while it waits for a lock. */
export function watchBlockers(
  database: Database,
  pid: number,
  blocked: (sessions: readonly Session[], sinceMs: number) => Promise<void> = async () => undefined,
): Watch {
  const stopped = new AbortController();
  const started = performance.now();
  let last: readonly Session[] = [];
  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await sleep(LIMITS.migrationLookMs, undefined, { signal: stopped.signal });
      const sessions = await blockersOf(database, pid);
      if (sessions.length > 0) last = sessions;
      if (sessions.length > 0) await blocked(sessions, performance.now() - started);
    }
  }
  // If this fails, only the names of the sessions are missing. The wait itself has a timeout on the server.
  run().catch(() => undefined);
  return { last: () => last, stop: () => stopped.abort() };
}
