import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/until.ts';

/** Debian's openssh-server: `apt-get install openssh-server`. */
export const SSHD = '/usr/sbin/sshd';
export const HAS_SSHD = existsSync(SSHD);

const makeKey = (path: string): void =>
  void execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An SFTP server of this user, on a port of its own, for the time of a test. */
export async function startSshd(root: string) {
  const own = join(root, 'ssh');
  mkdirSync(own, { mode: 0o700 });
  for (const name of ['host', 'other', 'client', 'stranger']) makeKey(join(own, name));
  writeFileSync(join(own, 'authorized'), readFileSync(join(own, 'client.pub')));
  chmodSync(join(own, 'authorized'), 0o600);
  const port = await freePort();
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(own, 'host')}`,
    `AuthorizedKeysFile ${join(own, 'authorized')}`,
    `PidFile ${join(own, 'pid')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'Subsystem sftp internal-sftp',
  ];
  writeFileSync(join(own, 'config'), `${config.join('\n')}\n`);
  // Where the server drops its privileges, if the test runs as root.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
  const child: ChildProcess = spawn(SSHD, ['-D', '-e', '-f', join(own, 'config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr!.on('data', (text: Buffer) => {
    said += text.toString();
  });
  await until(`sshd listens (${said})`, () => said.includes('Server listening'));
  const fingerprint = (name: string): string =>
    execFileSync('ssh-keygen', ['-lf', join(own, `${name}.pub`)], { encoding: 'utf8' }).split(' ')[1]!;
  return {
    port,
    user: userInfo().username,
    hostKey: fingerprint('host'),
    otherHostKey: fingerprint('other'),
    privateKey: readFileSync(join(own, 'client'), 'utf8'),
    strangersKey: readFileSync(join(own, 'stranger'), 'utf8'),
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await until('sshd has ended', () => child.exitCode !== null || child.signalCode !== null);
    },
  };
}
