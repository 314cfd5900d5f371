import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HDKey } from '@scure/bip32';
import { mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { spawnFerry, startFerry, urlOf } from '../support/process.ts';
import { until } from '../support/until.ts';
import { coinBytes, PAYEE } from './evm-bytes.ts';
import {
  createSignerRole,
  dropRole,
  type Environment,
  environmentOf,
  PASSPHRASE,
  startSigner,
} from './signer-process.ts';
import { commit, makeDirectory, removeDirectory } from './support.ts';

/** Keys, mnemonic and passphrase are in the memory of the signer, and nowhere else. */

let test: TestDatabase;
let env: Environment;
let mnemonic: string;
let lanes: string[];
const directory = makeDirectory();
const role = `signer_${newId().slice(-12)}`;
let initOutput: string;

beforeAll(async () => {
  test = await createTestDatabase();
  env = environmentOf(directory, await createSignerRole(test, role));
  const { stdout } = await spawnFerry(['signer', 'init', '--show-mnemonic', '--json'], env);
  initOutput = stdout;
  const created = JSON.parse(stdout);
  mnemonic = created.mnemonic;
  lanes = created.accounts[0].lanes;
});
afterAll(async () => {
  await test.drop();
  await dropRole(role);
  removeDirectory(directory);
});

/** Every form in which a secret could be found. */
function secrets(): Record<string, Buffer> {
  const seed = Buffer.from(mnemonicToSeedSync(mnemonic));
  const account = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'");
  const lane = Buffer.from(account.derive('m/0/0').privateKey!);
  const words = mnemonic.split(' ');
  return {
    'the seed': seed,
    'the seed as hex': Buffer.from(seed.toString('hex')),
    'the seed as base64': Buffer.from(seed.toString('base64').slice(0, -3)),
    'the entropy': Buffer.from(mnemonicToEntropy(mnemonic, wordlist)),
    'the key of a lane': lane,
    'the key of a lane as hex': Buffer.from(lane.toString('hex')),
    'the extended key': Buffer.from(account.privateExtendedKey),
    'four words of the mnemonic': Buffer.from(words.slice(0, 4).join(' ')),
    'four words of the mnemonic as UTF-16': Buffer.from(words.slice(0, 4).join(' '), 'utf16le'),
    'the passphrase': Buffer.from(PASSPHRASE),
  };
}

const foundIn = (bytes: Buffer): string[] =>
  Object.entries(secrets()).flatMap(([name, secret]) => (bytes.includes(secret) ? [name] : []));

const CHUNK_BYTES = 4 * 1024 * 1024;
const OVERLAP_BYTES = 256;

/** Everything that a core dump of the process would contain. */
function foundInMemory(pid: number): string[] {
  const wanted = Object.entries(secrets());
  const found = new Set<string>();
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let bytesRead = 0;
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, start, end, rights] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
    if (rights?.startsWith('rw') !== true) continue;
    for (let at = BigInt(`0x${start}`); at < BigInt(`0x${end}`); at += BigInt(CHUNK_BYTES - OVERLAP_BYTES)) {
      const left = BigInt(`0x${end}`) - at;
      const length = left < BigInt(CHUNK_BYTES) ? Number(left) : CHUNK_BYTES;
      try {
        bytesRead += readSync(memory, buffer, 0, length, at as never);
      } catch {
        // Reserved, and not in use.
        break;
      }
      for (const [name, secret] of wanted) if (buffer.subarray(0, length).includes(secret)) found.add(name);
    }
  }
  closeSync(memory);
  expect(bytesRead).toBeGreaterThan(10_000_000);
  return [...found];
}

describe('keys, mnemonic and passphrase', () => {
  it('are in no log, dump or memory of a service that the signer signs for', async () => {
    const signer = await startSigner(env);
    const requests = await Promise.all(
      Array.from({ length: 5 }, async (_, nonce) => {
        const payments = [{ asset: 'ETH', units: 1n, address: PAYEE }];
        const { id } = await commit(test.database, {
          network: 'ETHEREUM',
          lane: lanes[0]!,
          slot: String(nonce),
          payments,
        });
        return {
          network: 'ETHEREUM',
          assignmentId: id,
          version: 1,
          unsigned: coinBytes(PAYEE, 1n, nonce),
        };
      }),
    );
    const plan = join(directory, 'plan.json');
    writeFileSync(plan, JSON.stringify({ socket: signer.address, requests }));
    const dumps = join(directory, 'dumps');
    mkdirSync(dumps);
    const asking = resolve(import.meta.dirname, 'asking-service.mjs');
    const service = await startFerry({
      DATABASE_URL: urlOf(test.address),
      FERRY_DATA_DIR: join(directory, 'data'),
      ASKING_SERVICE: plan,
      NODE_OPTIONS: `--import=${asking} --heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${dumps}`,
    });
    try {
      expect(service.output()).toContain('the signer returned 5 signatures');
      // The search finds what is there: in the signer, and in the service what it may know.
      expect(foundInMemory(signer.child.pid!)).toContain('the seed');
      expect(foundInMemory(service.child.pid!)).toEqual([]);
      service.child.kill('SIGUSR2');
      await until('the heap snapshot is complete', () =>
        readdirSync(dumps).some((name) => readFileSync(join(dumps, name)).subarray(-4).includes('}')),
      );
      const [name] = readdirSync(dumps);
      const snapshot = readFileSync(join(dumps, name!));
      expect(snapshot.includes(requests[0]!.assignmentId)).toBe(true);
      expect(foundIn(snapshot)).toEqual([]);
      expect(readFileSync(`/proc/${service.child.pid}/environ`).includes(PASSPHRASE)).toBe(false);
    } finally {
      await service.end('SIGTERM');
      await signer.end('SIGTERM');
    }
    expect(foundIn(Buffer.from(service.output() + signer.output()))).toEqual([]);
    for (const file of ['log.jsonl', 'keys.json', 'signer.json'])
      expect(foundIn(readFileSync(join(directory, file)))).toEqual([]);
  });

  it('are in no arguments of processes, no help and no error', async () => {
    const signer = await startSigner(env);
    expect(foundIn(readFileSync(`/proc/${signer.child.pid}/cmdline`))).toEqual([]);
    await signer.end('SIGTERM');
    const help = await spawnFerry(['signer', 'init', '--help'], env);
    const again = await spawnFerry(['signer', 'init'], env);
    const wrong = await spawnFerry(['signer', 'check'], { ...env, SIGNER_PASSPHRASE: `${PASSPHRASE}!` });
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exists already: a key file is never replaced'),
    });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('The passphrase does not open') });
    const texts = [help, again, wrong].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect(foundIn(Buffer.from(texts.join('\n')))).toEqual([]);
  });

  it('leave the signer only as the mnemonic, once, when init is asked to show it', async () => {
    expect(foundIn(Buffer.from(initOutput))).toEqual(['four words of the mnemonic']);
    const other = makeDirectory();
    const silent = await spawnFerry(['signer', 'init'], environmentOf(other, 'postgres://localhost/none'));
    expect(silent).toMatchObject({ code: 0, stdout: expect.stringContaining('lane 0') });
    expect(silent.stdout.split(/\s+/).filter((word) => wordlist.includes(word)).length).toBeLessThan(4);
    removeDirectory(other);
  });

  it('are restored from the words, with the same addresses', async () => {
    const other = makeDirectory();
    const { FERRY_SIGNER_CONFIG, SIGNER_PASSPHRASE } = environmentOf(other, 'postgres://localhost/none');
    const ferry = resolve(import.meta.dirname, '../../bin/ferry.js');
    const stdout = execFileSync(process.execPath, [ferry, 'signer', 'init', '--restore', '--json'], {
      env: { PATH: process.env.PATH, FERRY_SIGNER_CONFIG, SIGNER_PASSPHRASE },
      input: `${mnemonic}\n`,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    expect(JSON.parse(stdout).accounts[0].lanes).toEqual(lanes);
    removeDirectory(other);
  });

  it('are not opened with a debugger or a profiler', async () => {
    for (const flag of ['--inspect=0', '--heapsnapshot-signal=SIGUSR2', '--report-on-fatalerror']) {
      const { stderr, code } = await spawnFerry(['signer', 'check'], { ...env, NODE_OPTIONS: flag });
      expect([code, stderr]).toEqual([1, expect.stringContaining(`ferry signer does not run with ${flag}`)]);
    }
  });
});
