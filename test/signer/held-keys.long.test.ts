import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { createSignerClient } from '../../src/signer/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { spawnFerry } from '../support/process.ts';
import { until } from '../support/until.ts';
import { coinBytes, PAYEE } from './evm-bytes.ts';
import {
  createSignerRole,
  dropRole,
  type Environment,
  environmentOf,
  signerFile,
  startSigner,
} from './signer-process.ts';
import { commit, makeDirectory, removeDirectory } from './support.ts';

/** Keys that the signer uses and never sees: in a PKCS #11 token (SoftHSM) and in AWS KMS (moto). */

let test: TestDatabase;
let url: string;
const directory = makeDirectory();
const role = `signer_${newId().slice(-12)}`;
const signal = new AbortController().signal;
const LANE_0 = "m/44'/60'/0'/0/0";

beforeAll(async () => {
  test = await createTestDatabase();
  url = await createSignerRole(test, role);
});
afterAll(async () => {
  await test.drop();
  await dropRole(role);
  removeDirectory(directory);
});

/** One lane, because each lane is a key of its own. */
function environment(name: string, keys: object): Environment {
  const own = join(directory, name);
  mkdirSync(own);
  const file = signerFile(own, { keys }) as { networks: { ETHEREUM: { lanes: number } } };
  file.networks.ETHEREUM.lanes = 1;
  return { ...environmentOf(own, url, file), LOG_KEY: 'a secret for the log' };
}

/** Starts the signer with those keys, and has it sign ten payments. */
async function signTen(env: Environment): Promise<void> {
  const running = await startSigner(env);
  const client = createSignerClient({ socket: running.address });
  const account = await client.account('ETHEREUM', signal);
  expect(account.xpub).toBeUndefined();
  const lane = account.lanes[0]!;
  for (let nonce = 0; nonce < 10; nonce += 1) {
    const payments = [{ asset: 'ETH', units: 1n, address: PAYEE }];
    const { id } = await commit(test.database, { network: 'ETHEREUM', lane, slot: String(nonce), payments });
    const unsigned = coinBytes(PAYEE, 1n, nonce);
    const request = {
      requestId: newId(),
      network: 'ETHEREUM',
      assignmentId: id,
      version: 1,
      unsigned,
    } as const;
    const [signature] = await client.sign(request, signal);
    const s = BigInt(`0x${signature!.slice(64, 128)}`);
    expect(s < 2n ** 255n).toBe(true);
    const serializedTransaction = serializeTransaction(parseTransaction(unsigned as '0x02'), {
      r: `0x${signature!.slice(0, 64)}`,
      s: `0x${signature!.slice(64, 128)}`,
      yParity: Number(signature!.slice(128)),
    }) as '0x02';
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(lane);
  }
  expect(await running.end('SIGTERM')).toBe(0);
}

function missing(what: string): void {
  console.warn(`${what} is not on this machine: only the sentence about it was tested. .ci/run installs it.`);
}

const MODULES = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so'];

describe('keys in a PKCS #11 token', () => {
  const module = MODULES.find((path) => existsSync(path));
  const { NODE_PATH = '', PATH = '' } = process.env;
  const hasPackage = NODE_PATH.split(delimiter).some(
    (path) => path !== '' && existsSync(join(path, 'pkcs11js')),
  );
  const settings = {
    kind: 'pkcs11',
    module: module ?? '/none.so',
    token: 'ferry',
    pin: { env: 'PIN' },
    log_key: { env: 'LOG_KEY' },
  };

  it('sign without leaving it', async () => {
    const env = {
      ...environment('token', { ...settings, keys: { [LANE_0]: 'lane-0' } }),
      PIN: '1234',
      NODE_PATH,
    };
    if (module === undefined || !hasPackage) {
      missing('SoftHSM, or the package pkcs11js');
      const { stderr } = await spawnFerry(['signer', 'check'], { ...env, NODE_PATH: '' });
      expect(stderr).toContain('keys.kind pkcs11 needs the package pkcs11js 2.1.7');
      return;
    }
    const conf = join(directory, 'softhsm.conf');
    mkdirSync(join(directory, 'tokens'));
    writeFileSync(conf, `directories.tokendir = ${join(directory, 'tokens')}\nlog.level = ERROR\n`);
    const own = { PATH, NODE_PATH, SOFTHSM2_CONF: conf };
    execFileSync(
      'softhsm2-util',
      ['--init-token', '--free', '--label', 'ferry', '--pin', '1234', '--so-pin', '1234'],
      { env: own },
    );
    execFileSync(
      process.execPath,
      [resolve(import.meta.dirname, 'make-token-key.mjs'), module, 'ferry', '1234', 'lane-0'],
      { env: own },
    );
    await signTen({ ...env, SOFTHSM2_CONF: conf });
    const wrong = await spawnFerry(['signer', 'check'], { ...env, SOFTHSM2_CONF: conf, PIN: '9999' });
    expect(wrong.stderr).toMatch(/^The token ferry refuses keys\.pin \(CKR_PIN_INCORRECT.*\)\.\n$/);
    const absent = environment('absent', { ...settings, keys: {} });
    const { stderr } = await spawnFerry(['signer', 'check'], {
      ...absent,
      PIN: '1234',
      NODE_PATH,
      SOFTHSM2_CONF: conf,
    });
    expect(stderr).toContain(`keys.keys has no key for ${LANE_0} (secp256k1)`);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

describe('keys in AWS KMS', () => {
  const folders = (process.env.PATH ?? '').split(delimiter);
  /** The Python that has moto. */
  const python = folders
    .filter((path) => existsSync(join(path, 'moto_server')))
    .map((path) => join(path, 'python3'))
    .find((path) => existsSync(path));
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

  it('sign without leaving it', async () => {
    if (python === undefined) {
      missing('moto');
      const keys = { kind: 'aws_kms', region: 'eu-central-1', log_key: { env: 'LOG_KEY' }, keys: {} };
      const { stderr } = await spawnFerry(['signer', 'check'], {
        ...environment('kms', keys),
        ...credentials,
      });
      expect(stderr).toContain(`keys.keys has no key for ${LANE_0} (secp256k1): AWS KMS holds single keys`);
      return;
    }
    const port = await freePort();
    const server: ChildProcess = spawn(
      python,
      [resolve(import.meta.dirname, 'kms-server.py'), '-p', String(port)],
      { stdio: 'ignore' },
    );
    try {
      const endpoint = `http://127.0.0.1:${port}`;
      await until('moto answers', async () => (await fetch(endpoint)).status < 600, 100);
      const { CreateKeyCommand, KMSClient } = createRequire(import.meta.url)(
        '@aws-sdk/client-kms',
      ) as typeof import('@aws-sdk/client-kms');
      const client = new KMSClient({
        region: 'eu-central-1',
        endpoint,
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      });
      const { KeyMetadata } = await client.send(
        new CreateKeyCommand({ KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY' }),
      );
      client.destroy();
      const keys = { [LANE_0]: KeyMetadata!.KeyId! };
      const settings = {
        kind: 'aws_kms',
        region: 'eu-central-1',
        endpoint,
        log_key: { env: 'LOG_KEY' },
        keys,
      };
      await signTen({ ...environment('kms', settings), ...credentials });
    } finally {
      server.kill('SIGKILL');
    }
  });
});
