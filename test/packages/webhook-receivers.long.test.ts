import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { blocksIn, linkClient } from './guides.ts';

type Language = {
  readonly name: string;
  readonly file: string;
  /** Ends with 0 if the machine has it, in a version that the guide asks for. */
  readonly check: readonly string[];
  readonly run: (folder: string) => readonly string[];
};

const LANGUAGES: Record<string, Language> = {
  ts: {
    name: 'TypeScript',
    file: 'receiver.ts',
    check: [process.execPath, '--version'],
    run: () => [process.execPath, 'receiver.ts'],
  },
  python: {
    name: 'Python',
    file: 'receiver.py',
    check: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'],
    run: () => ['python3', 'receiver.py'],
  },
  go: {
    name: 'Go',
    file: 'receiver.go',
    check: ['go', 'version'],
    run(folder) {
      const { HOME = tmpdir(), PATH } = process.env;
      const env = { HOME, PATH, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
      execFileSync('go', ['build', '-o', 'receiver', 'receiver.go'], { cwd: folder, env });
      return [join(folder, 'receiver')];
    },
  },
  java: {
    name: 'Java',
    file: 'Receiver.java',
    check: ['java', '-XX:+UseSerialGC', '--source', '17', '--version'],
    run: () => ['java', 'Receiver.java'],
  },
};

const service = await startTestService();
const folder = mkdtempSync(join(tmpdir(), 'ferry-receivers-'));
linkClient(folder);
const started: ChildProcess[] = [];
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await service.stop();
  rmSync(folder, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

function start(command: readonly string[], env: Record<string, string>): () => string {
  const [program, ...args] = command;
  const child = spawn(program!, args, { cwd: folder, env: { ...process.env, ...env } });
  started.push(child);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  return () => output;
}

it('the guide has a receiver for each of four languages', () => {
  for (const language of Object.keys(LANGUAGES))
    expect(blocksIn('docs/webhooks.md', language)).toHaveLength(1);
});

for (const [language, { name, file, check, run }] of Object.entries(LANGUAGES)) {
  const isHere = spawnSync(check[0]!, check.slice(1)).status === 0;
  const missing = isHere ? '' : `: not run, because ${check[0]} is not on this machine`;

  describe(`the receiver in ${name}${missing}`, () => {
    // A machine without the language has one test less, and its title says so.
    it.runIf(isHere)('takes an event of the service once, and nothing that is not signed', async () => {
      const customer = await service.createCustomer();
      const port = await freePort();
      const { body: endpoint } = await customer.call('POST', '/v2/events/webhooks', {
        url: `http://127.0.0.1:${port}/`,
      });
      writeFileSync(join(folder, file), blocksIn('docs/webhooks.md', language)[0]!);
      const output = start(run(folder), { FERRY_WEBHOOK_SECRET: endpoint.secret, PORT: String(port) });
      await until('it listens', () => output().includes('listening'));

      // The service waits ten seconds for an answer, which is not enough on a busy machine: each attempt is an event of its own.
      await until('an event is delivered', async () => {
        const test = await customer.call('POST', `/v2/events/webhooks/${endpoint.id}/test`, {});
        return test.body.status === 'DELIVERED';
      });
      const printed = /^webhook_endpoint\.test ([0-9a-f-]{36})$/m;
      await until('it prints the event', () => printed.test(output()));

      const [, id] = printed.exec(output())!;
      const forged = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: {
          'webhook-id': id!,
          'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
          'webhook-signature': `v1,${btoa('x'.repeat(32))}`,
        },
        body: JSON.stringify({ id, type: 'transfer.forged' }),
      });
      expect(forged.status).toBe(401);
      expect(output()).not.toContain('forged');
    });
  });
}
