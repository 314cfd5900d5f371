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
  /** Until its killed processes are gone. */
  isRunning(): boolean;
  /** Resolves when it accepts connections. */
  start(): Promise<void>;
  /** A copy that follows it, on another port. It has everything that this server has confirmed. */
  copy(directory: string, port: number): Promise<OwnServer>;
  /** A copy that follows it up to a restore point of this name, and no further. */
  backUpTo(point: string, directory: string, port: number): Promise<Backup>;
};

export type Backup = {
  /** Resolves when it has everything up to the restore point. It is stopped then. */
  reached(): Promise<void>;
  /** The server as it was, instead of the one that it was copied from. That must have been killed. */
  restore(): Promise<OwnServer>;
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

  /** The same program, with another directory. */
  const at = (address: string, directory: string, ...settings: readonly string[]): OwnServer =>
    serverOf(address, {
      ...started,
      args: [
        '-D',
        directory,
        ...[`port=${address.split(':')[1]}`, ...settings].flatMap((setting) => ['-c', setting]),
      ],
      dataDirectory: directory,
    });

  async function follow(directory: string, port: number, ...settings: string[]): Promise<OwnServer> {
    const [host, ownPort] = server.split(':');
    const backup = spawnSync(
      join(dirname(program), 'pg_basebackup'),
      ['-D', directory, '-h', host!, '-p', ownPort!, '-U', 'postgres', '-R', '-X', 'stream', '-c', 'fast'],
      { uid, gid, encoding: 'utf8' },
    );
    if (backup.status !== 0) throw new Error(`no copy of ${server}: ${backup.stderr}`);
    const follower = at(`${host}:${port}`, directory, ...settings);
    await follower.start();
    return follower;
  }

  return {
    server,
    dataDirectory,
    kill() {
      const first = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
      // The sessions would notice that it is gone, and one that waits for a standby would end its commit; nor may it start new ones.
      process.kill(first, 'SIGSTOP');
      killed = processesOf(first);
      for (const pid of killed.toReversed()) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    },
    isRunning: () => killed.length === 0 || killed.some(isRunning),
    async start() {
      await until('the killed processes are gone', () => !killed.some(isRunning));
      const log = openSync(`${dataDirectory}.log`, 'a');
      spawn(program, args, { uid, gid, detached: true, stdio: ['ignore', log, log] }).unref();
      closeSync(log);
      await until(`${server} accepts connections`, () => answers(server));
    },
    async copy(directory, port) {
      const follower = await follow(directory, port);
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
    async backUpTo(point, directory, port) {
      const target = `recovery_target_name=${point}`;
      const follower = await follow(directory, port, target);
      return {
        async reached() {
          const paused = `select from (select pg_get_wal_replay_pause_state() as state) as s where state = 'paused'`;
          await until(
            'the restore point is reached',
            async () => (await on(addressOf(follower.server, 'postgres'), paused)).length > 0,
          );
          follower.kill();
        },
        async restore() {
          const restored = at(server, directory, target, 'recovery_target_action=promote');
          await until('the copy has stopped', () => !follower.isRunning());
          await restored.start();
          const ended = 'select from (select pg_is_in_recovery() as is) as r where not r.is';
          await until(
            'it is restored',
            async () => (await on(addressOf(server, 'postgres'), ended)).length > 0,
          );
          return restored;
        },
      };
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
