import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBank } from '../../src/banks/check.ts';
import type { SftpSettings } from '../../src/banks/settings.ts';
import { sftpTransport } from '../../src/banks/sftp.ts';
import { BANK_LIMITS } from '../../src/limits-banks.ts';
import { type BankWorld, createBankWorld } from './bank-world.ts';
import { HAS_SSHD, SSHD, startSshd } from './sshd.ts';

// With a real server, which only some machines have. The tests of the rail itself run everywhere.
if (!HAS_SSHD) console.warn(`SFTP is not tested here: ${SSHD} is missing (apt-get install openssh-server).`);

describe.runIf(HAS_SSHD)('SFTP, with a server of OpenSSH', () => {
  let world: BankWorld;
  let sshd: Awaited<ReturnType<typeof startSshd>>;
  let settings: SftpSettings;
  const at = (name: string): string => `${world.directories.root}/${name}`;
  beforeAll(async () => {
    world = await createBankWorld();
    sshd = await startSshd(world.directories.root);
    const { port, user, privateKey, hostKey } = sshd;
    settings = { host: '127.0.0.1', port, user, privateKey, passphrase: undefined, hostKey };
  });
  afterAll(async () => {
    await sshd.stop();
    await world.remove();
  });
  const remote = () => ({
    ...world.settings,
    place: { sftp: settings },
    outgoing: at('outgoing'),
    incoming: at('incoming'),
    archive: at('archive'),
  });

  it('carries payments to the bank, and its answers back', async () => {
    const { createBankWorker } = await import('../../src/banks/worker.ts');
    const { newId } = await import('../../src/kernel/id.ts');
    const key = await world.submit('12.34');
    const worker = createBankWorker({
      settings: remote(),
      database: world.database,
      clock: world.clock,
      transport: sftpTransport(settings),
      lease: { rail: 'wire', holder: newId() },
      leaseMs: 0,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never,
    });
    await worker.turn();
    expect(world.directories.list('outgoing')).toHaveLength(1);
    await world.bank.turn();
    await world.bank.turn();
    await worker.turn();
    await worker.turn();
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect(world.directories.list('incoming')).toEqual([]);
    expect(world.directories.list('archive').length).toBeGreaterThan(1);
    expect((await world.bank.record()).payments).toMatchObject([{ amount: '12.34', state: 'PAID' }]);
  });

  it('is checked: connection, host key and directories', async () => {
    expect(
      (await checkBank(remote())).map(({ what, found, isFault }) => [what, isFault ?? found.slice(0, 7)]),
    ).toEqual([
      ['connection', 'sftp://'],
      ['host key', 'SHA256:'],
      ['outgoing', at('outgoing').slice(0, 7)],
      ['incoming', at('incoming').slice(0, 7)],
      ['archive', at('archive').slice(0, 7)],
    ]);
    const missing = await checkBank({ ...remote(), incoming: at('missing') });
    expect(missing.filter(({ isFault }) => isFault)).toMatchObject([{ what: 'incoming' }]);
  });

  it('refuses a server with another key, and sends nothing', async () => {
    const transport = sftpTransport({ ...settings, hostKey: sshd.otherHostKey });
    await expect(transport.connect()).rejects.toThrow(
      `the host key of 127.0.0.1:${sshd.port} is ${sshd.hostKey}, and not the configured ${sshd.otherHostKey}: nothing was sent`,
    );
  });

  it('reports that the server refuses the key of the service, without showing it', async () => {
    const error: Error = await sftpTransport({ ...settings, privateKey: sshd.strangersKey })
      .connect()
      .then(
        () => new Error('connected'),
        (thrown: Error) => thrown,
      );
    expect(error.message).toMatch(/^cannot connect to 127\.0\.0\.1:\d+ as \S+: .*authentication/i);
    expect(error.message).not.toContain('PRIVATE KEY');
  });
});

describe('a server that accepts connections and never answers', () => {
  let silent: Server;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('is given up after a time', { timeout: 10 * BANK_LIMITS.connectTimeoutMs }, async () => {
    const { port } = silent.address() as { port: number };
    const settings = { host: '127.0.0.1', port, user: 'x', passphrase: undefined, hostKey: 'SHA256:x' };
    const { generateKeyPairSync } = await import('node:crypto');
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    await expect(sftpTransport({ ...settings, privateKey }).connect()).rejects.toThrow(
      /^cannot connect to 127\.0\.0\.1/,
    );
  });
});
