import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectDatabase } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import { createSignerClient, type SignerAddress, SignerUnavailable } from '../../src/signer/client.ts';
import { type Signer, SignerRefusal } from '../../src/signer/contract.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runFerry, urlOf } from '../support/process.ts';
import { IS_LONG } from '../support/rounds.ts';
import {
  CLIENT_CA,
  NODE_CERTIFICATE,
  NODE_KEY,
  SERVER_CA,
  SIGNER_CERTIFICATE,
  SIGNER_KEY,
  STRANGER_CERTIFICATE,
  STRANGER_KEY,
} from './certificates.ts';
import { coinBytes, PAYEE } from './evm-bytes.ts';
import {
  createSignerRole,
  dropRole,
  type Environment,
  environmentOf,
  type SignerProcess,
  signerFile,
  startSigner,
} from './signer-process.ts';
import { commit, makeDirectory, removeDirectory } from './support.ts';

let test: TestDatabase;
let url: string;
let env: Environment;
let lane: string;
const directory = makeDirectory();
const role = `signer_${newId().slice(-12)}`;
const signal = new AbortController().signal;
let slot = 0;

beforeAll(async () => {
  test = await createTestDatabase();
  url = await createSignerRole(test, role);
  env = environmentOf(directory, url);
  const { stdout, code } = await runFerry(['signer', 'init', '--json'], env);
  expect(code).toBe(0);
  lane = JSON.parse(stdout).accounts[0].lanes[0];
});
afterAll(async () => {
  await test.drop();
  await dropRole(role);
  removeDirectory(directory);
});

async function order(units = 1n) {
  slot += 1;
  const nonce = slot;
  const payments = [{ asset: 'ETH', units, address: PAYEE }];
  const { id } = await commit(test.database, { network: 'ETHEREUM', lane, slot: String(nonce), payments });
  const unsigned = coinBytes(PAYEE, units, nonce);
  return { network: 'ETHEREUM', assignmentId: id, version: 1, unsigned } as const;
}
const ask = (signer: Signer, request: Awaited<ReturnType<typeof order>>, requestId = newId()) =>
  signer.sign({ requestId, ...request }, signal);

describe('the role of the signer', () => {
  it('reads its views, and nothing else', async () => {
    const database = connectDatabase({ url }, 1);
    for (const view of ['signer_assignments', 'signer_payments', 'signer_coins', 'signer_signed'])
      expect(await database.query(`select 1 from ${view} limit 1`)).toBeDefined();
    for (const statement of [
      'select 1 from transfers',
      'select 1 from chain_assignments',
      'select 1 from customers',
      'select 1 from data_keys',
      `update signer_assignments set lane = ''`,
      'create table mine (id integer)',
    ])
      await expect(database.query(statement)).rejects.toThrow(/permission denied/);
    await database.close();
  });

  it('is not the role that serves, nor the owner', async () => {
    const asOwner = { DATABASE_URL: urlOf(test.address) };
    const refusal = async (name: string) =>
      (await runFerry(['migrate', '--signer-role', name], asOwner)).stderr;
    expect(await refusal('')).toContain('--signer-role must be the name of a role.');
    expect(await refusal(inject('servingRole'))).toContain(
      'is the serving role: the signer needs one of its own',
    );
    expect(await refusal(inject('postgres').user)).toContain('is a superuser');
    expect(await refusal('nobody')).toContain('the signer role nobody does not exist');
  });
});

describe('ferry signer', () => {
  /** One process for the tests that only ask it; all of them together sign a few units more than the limit below. */
  let running: SignerProcess;
  beforeAll(async () => {
    // On a busy machine, forty signatures at once take longer than a service would wait.
    Object.assign(LIMITS, { signerCallMs: 120_000 });
    const limits = {
      ETH: { units_per_hour: '1000000', units_per_day: '1000000', payments_per_minute: 1000 },
    };
    const few = { ...limits, USDC: limits.ETH, ETH: { ...limits.ETH, units_per_day: '500' } };
    running = await startSigner(environmentOf(directory, url, signerFile(directory, { limits: few })));
  });
  afterAll(() => void running.child.kill('SIGKILL'));

  it('answers on a socket that only its user can open, writes no core and opens no debugger', async () => {
    const { pid } = running.child;
    expect(statSync(running.address).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'keys.json')).mode & 0o777).toBe(0o600);
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m);
    process.kill(pid!, 'SIGUSR1');
    const client = createSignerClient({ socket: running.address });
    const account = await client.account('ETHEREUM', signal);
    expect(account).toMatchObject({
      lanes: [lane, expect.stringMatching(/^0x/)],
      xpub: expect.stringMatching(/^xpub/),
    });
    expect((await ask(client, await order()))[0]).toMatch(/^[0-9a-f]{130}$/);
    expect(running.output()).not.toContain('Debugger');
  });

  it('passes refusals on with their code, and survives senseless requests', async () => {
    const client = createSignerClient({ socket: running.address });
    const request = await order();
    const wrong = { ...request, unsigned: coinBytes(PAYEE, 2n, slot) };
    const refused = await ask(client, wrong).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SignerRefusal);
    expect(refused).toMatchObject({
      code: 'other-payment',
      message: expect.stringContaining('The bytes pay 2 units of ETH'),
    });
    await expect(client.account('BITCOIN', signal)).rejects.toThrow(
      'BITCOIN is not a network of this signer.',
    );
    const huge = { ...request, unsigned: 'ab'.repeat(1024 * 1024) };
    await expect(ask(client, huge)).rejects.toThrow();
    const socket = connect(running.address);
    socket.end('POST /sign HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n{"a');
    const answer = await new Promise<string>((done) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => done(text));
    });
    expect(answer).toContain('The body is not valid JSON.');
    expect((await ask(client, request))[0]).toMatch(/^[0-9a-f]{130}$/);
  });

  it('serves two services at once, and its limits hold for both together', async () => {
    const clients = [0, 1].map(() => createSignerClient({ socket: running.address }));
    const requests = await Promise.all(Array.from({ length: 20 }, () => order(50n)));
    const answers = await Promise.allSettled(
      requests.flatMap((request) => clients.map((client) => ask(client, request))),
    );
    const signed = answers.filter(({ status }) => status === 'fulfilled');
    const refused = answers.filter((one) => one.status === 'rejected');
    expect(new Set(refused.map(({ reason }) => reason.code))).toEqual(new Set(['over-velocity']));
    // A few units were signed by the tests before.
    expect(signed).toHaveLength(2 * 9);
  });

  it('exits with 0 on SIGTERM; then it is unavailable', async () => {
    const client = createSignerClient({ socket: running.address });
    expect(await running.end('SIGTERM')).toBe(0);
    await expect(client.account('ETHEREUM', signal)).rejects.toBeInstanceOf(SignerUnavailable);
    env = environmentOf(directory, url);
  });

  // The quick run signs the same bytes again in evm-signing.test.ts, without a process.
  it.runIf(IS_LONG)(
    'signs the same again if it was killed after its decision was on disk and before it answered',
    async () => {
      const request = await order();
      const preload = resolve(import.meta.dirname, 'kill-before-answer.mjs');
      const dying = await startSigner({ ...env, NODE_OPTIONS: `--import=${preload}` });
      await expect(
        ask(createSignerClient({ socket: dying.address }), request, 'lost'),
      ).rejects.toBeInstanceOf(SignerUnavailable);
      await dying.ended;
      const lines = readFileSync(join(directory, 'log.jsonl'), 'utf8').trimEnd().split('\n');
      const { decision } = JSON.parse(lines.at(-1)!);
      expect(decision).toMatchObject({
        decision: 'signed',
        requestId: 'lost',
        assignmentId: request.assignmentId,
      });

      const restarted = await startSigner(env);
      const client = createSignerClient({ socket: restarted.address });
      await expect(ask(client, request, 'lost')).rejects.toMatchObject({ code: 'replayed' });
      const [signature] = await ask(client, request);
      const { keccak256, parseSignature, parseTransaction, serializeTransaction } = await import('viem');
      const signed = serializeTransaction(
        parseTransaction(request.unsigned as '0x02'),
        parseSignature(`0x${signature}`),
      );
      expect(keccak256(signed)).toBe(decision.hash);
      expect(await ask(client, request)).toEqual([signature]);
      await restarted.end('SIGTERM');
    },
  );

  it('does not start with another log than its own, beside a database that knows signed assignments', async () => {
    const { assignmentId } = await order();
    await test.database.query(
      `insert into chain_versions (assignment_id, number, hash, bytes, fee_units_max, fee_rate, signed_at_ns)
       values ($1, 1, 'h', 'b', 1, 1, 1)`,
      [assignmentId],
    );
    const { stderr, code } = await runFerry(['signer', 'check'], env);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`does not contain assignment ${assignmentId}`),
    ]);
    await test.database.query('delete from chain_versions');
    const good = await runFerry(['signer', 'check'], env);
    expect(good).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Keys: sealed file\. Log: .* decisions, unchanged\. Database: readable\./,
      ),
    });
  });

  it('answers over TLS only to the services that it knows', async () => {
    const contents = { certificate: SIGNER_CERTIFICATE, key: SIGNER_KEY, client_ca: CLIENT_CA };
    const paths = Object.fromEntries(
      Object.keys(contents).map((name) => [name, join(directory, `${name}.pem`)]),
    );
    for (const [name, text] of Object.entries(contents)) writeFileSync(paths[name]!, text);
    const listen = { host: '127.0.0.1', port: 0, ...paths, client_names: ['ferry-node'] };
    const secured = await startSigner(environmentOf(directory, url, signerFile(directory, { listen })));
    const [host, port] = secured.address.split(':');
    const address = (certificate: string, key: string): SignerAddress => ({
      host: host!,
      port: Number(port),
      ca: SERVER_CA,
      certificate,
      key,
    });
    const known = createSignerClient(address(NODE_CERTIFICATE, NODE_KEY));
    expect((await ask(known, await order()))[0]).toMatch(/^[0-9a-f]{130}$/);
    const stranger = createSignerClient(address(STRANGER_CERTIFICATE, STRANGER_KEY));
    await expect(ask(stranger, await order())).rejects.toThrow('The certificate is not one of client_names.');
    const other = createSignerClient(address(SIGNER_CERTIFICATE, SIGNER_KEY));
    await expect(ask(other, await order())).rejects.toBeInstanceOf(SignerUnavailable);
    const suspicious = createSignerClient({
      ...address(NODE_CERTIFICATE, NODE_KEY),
      ca: CLIENT_CA,
    });
    await expect(ask(suspicious, await order())).rejects.toBeInstanceOf(SignerUnavailable);
    await secured.end('SIGTERM');
    rmSync(join(directory, 'key.pem'));
    env = environmentOf(directory, url);
  });
});
