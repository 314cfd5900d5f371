import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addressOf, on } from './cluster.ts';
import { isRunning } from './process.ts';
import { until } from './until.ts';

/** A PostgreSQL server on this machine, which can be killed and started again as it was started before. */
export type OwnServer = {
  readonly server: string;
  readonly dataDirectory: string;
  /** `kill -9` of all its processes, at once. */
  kill(): void;
  /** Resolves when it accepts connections. */
  start(): Promise<void>;
  /** A copy that follows it, on another port. It has everything that this server has confirmed. */
  copy(directory: string, port: number): Promise<OwnServer>;
};

type Started = {
  readonly program: string;
  readonly args: readonly string[];
  readonly dataDirectory: string;
  readonly uid: number;
  readonly gid: number;
};

const answers = async (server: string): Promise<boolean> =>
  (await on(addressOf(server, 'postgres'), 'select 1')).length === 1;

/** The process itself and its children. */
function processesOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => {
      try {
        const stat = readFileSync(`/proc/${one}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
      } catch {
        return false;
      }
    });
  return [pid, ...children];
}

function serverOf(server: string, started: Started): OwnServer {
  const { program, args, dataDirectory, uid, gid } = started;
  const pidFile = join(dataDirectory, 'postmaster.pid');
  let killed: number[] = [];
  return {
    server,
    dataDirectory,
    kill() {
      killed = processesOf(Number(readFileSync(pidFile, 'utf8').split('\n')[0]));
      for (const pid of killed) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    },
    async start() {
      await until('the killed processes are gone', () => !killed.some(isRunning));
      const log = openSync(`${dataDirectory}.log`, 'a');
      spawn(program, args, { uid, gid, detached: true, stdio: ['ignore', log, log] }).unref();
      closeSync(log);
      await until(`${server} accepts connections`, () => answers(server));
    },
    async copy(directory, port) {
      const [host, ownPort] = server.split(':');
      const backup = spawnSync(
        join(dirname(program), 'pg_basebackup'),
        ['-D', directory, '-h', host!, '-p', ownPort!, '-U', 'postgres', '-R', '-X', 'stream', '-c', 'fast'],
        { uid, gid, encoding: 'utf8' },
      );
      if (backup.status !== 0) throw new Error(`no copy of ${server}: ${backup.stderr}`);
      const follower = serverOf(`${host}:${port}`, {
        ...started,
        args: ['-D', directory, '-c', `port=${port}`],
        dataDirectory: directory,
      });
      await follower.start();
      await on(
        addressOf(server, 'postgres'),
        `alter system set synchronous_standby_names = '*'`,
        'select pg_reload_conf()',
      );
      await until('the copy follows', async () => {
        const rows = await on(
          addressOf(server, 'postgres'),
          `select from pg_stat_replication where sync_state = 'sync'`,
        );
        return rows.length === 1;
      });
      return follower;
    },
  };
}

/** Undefined if the server is not on this machine. */
export async function findOwnServer(server: string): Promise<OwnServer | undefined> {
  const [row] = await on(
    addressOf(server, 'postgres'),
    `select current_setting('data_directory') as directory`,
  );
  const { directory } = row as { directory: string };
  try {
    const pid = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]!;
    const { uid, gid } = statSync(`/proc/${pid}`);
    const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    const program = readlinkSync(`/proc/${pid}/exe`);
    return serverOf(server, { program, args, dataDirectory: directory, uid, gid });
  } catch {
    return undefined;
  }
}
