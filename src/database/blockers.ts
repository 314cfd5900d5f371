import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Database, Queryable } from './database.ts';

/** A session that keeps a migration waiting. */
export type Session = {
  readonly pid: number;
  readonly application: string;
  readonly address: string;
  readonly state: string;
};

/** A role without the right to see more is shown the name and the number alone. */
const SESSION = `pid, coalesce(nullif(application_name, ''), 'unnamed') as application,
  case when client_port is null then 'address not visible'
       when client_port = -1 then 'local socket' else host(client_addr) end as address,
  coalesce(state, 'state not visible') as state`;

/** Application name, address and number of each: what somebody needs to find it and end it. */
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

/** Ends what blocks this session. Fails without the right to do so: then the waiting ends in time, and says who blocks. */
export async function terminateBlockers(database: Queryable, pid: number): Promise<void> {
  await database.query(
    'select pg_terminate_backend(pid) from unnest(pg_blocking_pids($1)) as blocking (pid)',
    [pid],
  );
}

/**
 * Sessions of nodes that do not hold the schema lock: releases before that lock named theirs `ferry`. Nothing stops
 * them from writing, so they have to be gone before the schema changes under them.
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
  /** The sessions that blocked last. */
  last(): readonly Session[];
  stop(): void;
};

/** Looks from another connection at what blocks a session, while that one waits and cannot ask itself. */
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
  // What cannot be seen cannot be named; the wait itself is bounded by the server, and fails there.
  run().catch(() => undefined);
  return { last: () => last, stop: () => stopped.abort() };
}
