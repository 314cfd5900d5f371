import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testAdapter, type Verdict } from '../../src/http-rail/adapter-test.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { assets } from '../support/ledger.ts';
import { deriveAddress } from '../support/networks.ts';
import { type Finished, runFerry } from '../support/process.ts';
import { IS_LONG } from '../support/rounds.ts';
import {
  type Adapter,
  GO_ADAPTER,
  missing,
  PYTHON_ADAPTER,
  SECRET,
  startAdapter,
  startPythonAdapter,
} from './adapters.ts';
import { type Defect, startBreakableAdapter } from './breakable-adapter.ts';

/** `ferry rails test`: adapters that obey the contract pass, and those that do not are told what to do. */

const ENV = { SECRET_OF_ADAPTER: SECRET };
const test = (url: string, ...args: string[]): Promise<Finished> =>
  runFerry(['rails', 'test', '--url', url, '--secret-env', 'SECRET_OF_ADAPTER', ...args], ENV);

describe('the example adapters', () => {
  it.each([PYTHON_ADAPTER, GO_ADAPTER])('%s has fewer than 150 lines', (path) => {
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThanOrEqual(150);
  });

  /** A command that kills the adapter with -9 and starts it again, as its author would write it. */
  function restartCommand(adapter: Adapter, command: readonly string[]): string {
    const path = join(adapter.directory, 'restart.sh');
    const { port } = new URL(adapter.url);
    const env = `ADAPTER_SECRET='${SECRET}' ADAPTER_FILE='${adapter.directory}/payments.jsonl' PORT=${port} ADAPTER_DELAY_S=0.02`;
    const start = `${env} nohup ${command.join(' ')} >/dev/null 2>&1 & echo $! >'${adapter.directory}/pid'`;
    writeFileSync(path, `#!/bin/sh\nkill -9 ${adapter.pid()}\nsleep 0.1\n${start}\n`);
    chmodSync(path, 0o700);
    return path;
  }

  async function passes(adapter: Adapter, command: readonly string[]): Promise<void> {
    try {
      const restart = restartCommand(adapter, command);
      const { code, stdout } = await test(adapter.url, '--restart-command', restart);
      process.kill(Number(readFileSync(join(adapter.directory, 'pid'), 'utf8')), 'SIGKILL');
      expect(stdout).not.toContain('VIOLATED');
      expect(stdout).toContain('ok       a restart loses no payment: 2 payments were kept, and ended');
      expect(stdout).toMatch(/The adapter obeys the contract: 1[67] rules tested, [23] not applicable\.\n$/);
      expect(code).toBe(0);
      for (const key of adapter.keys()) expect(adapter.recordOf(key)).toMatchObject({ accepted: 1 });
    } finally {
      await adapter.remove();
    }
  }

  it('in Python passes, and so it does after kill -9', async () => {
    const how = missing('python3');
    if (how !== undefined) return console.warn(`The adapter in Python was not tested: ${how}.`);
    await passes(await startPythonAdapter(), ['python3', PYTHON_ADAPTER]);
  });

  // The compiler takes most of the time.
  it.runIf(IS_LONG)('in Go passes, and so it does after kill -9', async () => {
    const how = missing('go');
    if (how !== undefined) return console.warn(`The adapter in Go was not tested: ${how}.`);
    const directory = mkdtempSync(join(tmpdir(), 'ferry-go-'));
    const binary = join(directory, 'adapter');
    execFileSync('go', ['build', '-o', binary, GO_ADAPTER]);
    await passes(await startAdapter([binary]), [binary]);
    rmSync(directory, { recursive: true, force: true });
  });
});

/** What is printed of each defect: the rule and what was found. */
const DEFECTS: Readonly<Record<Defect, string>> = {
  'pays twice if two requests come at once':
    'the same request many times at once is the same payment: 10 equal requests at once: the reference was ref-',
  'pays again for every request':
    'the same request again is the same payment: the same request again: the reference was ref-',
  'accepts another amount under the same key':
    'another payment under the same key is refused: a request for 10.5 ETH under the key of a payment of 0.5 ETH gets 200',
  'ignores the key in the body':
    'a body with another key than the path is refused: a body with another key than the path gets 200',
  'answers 200 for unknown keys': 'an unknown key is not found: GET of an unknown key gets 200',
  'answers unknown keys without an outcome':
    'an unknown key is not found: GET of an unknown key gets 404 without "outcome": "not_found"',
  'does not check signatures':
    'a signature with another secret is refused: a payment with a signature with another secret gets 200, not 401',
  'does not check signatures of questions':
    'a signature with another secret is refused: GET /payments/{key} with a signature with another secret gets 404, not 401',
  'signs the parsed body':
    'a body that was changed after it was signed is refused: a payment with a body that was changed after it was signed gets 200',
  'does not check timestamps':
    'a timestamp of ten minutes ago is refused: a payment with a timestamp of ten minutes ago gets 200',
  'accepts timestamps of the future':
    'a timestamp in ten minutes is refused: a payment with a timestamp in ten minutes gets 200',
  'never ends a payment': 'a payment ends, and its end is final: a payment is still pending after 1 s',
  'changes its mind':
    'a payment ends, and its end is final: a payment that was completed is reported as failed afterwards',
  'computes with floating-point numbers':
    'amounts are exact to the smallest unit, also large ones: a payment of 0.000000000000000001 ETH: the answer is not a payment: /amount must be a decimal string',
  'sends amounts as numbers':
    'a payment is accepted, and reported with its key, asset, amount and reference: PUT /payments/{key}: the answer is not a payment: /amount must be string',
  'forgets payments that it rejects':
    'a payment that is rejected stays rejected: a payment was rejected, and GET of its key gets 404',
  'pays assets that do not exist':
    'a payment that is rejected stays rejected: a payment of the unknown asset XXXTEST is pending',
  'gives another deposit address every time':
    'a deposit address belongs to one id, and stays the same: the deposit address of one id was 0x',
  'gives everybody the same deposit address':
    'a deposit address belongs to one id, and stays the same: two ids have the deposit address 0x',
  'has no health': 'GET /health answers: GET /health gets 404',
  'hangs up instead of refusing': 'a signature with another secret is refused: PUT /payments/',
  'forgets everything in a restart':
    'a restart loses no payment: after a restart, GET of a payment that was accepted gets 404',
};

const CHAIN = [
  ['--rail', 'ETHEREUM', '--asset', 'ETH', '--amount', '0.5'],
  ['--destination', JSON.stringify({ address: deriveAddress('ETHEREUM', 'payee') })],
].flat();

/** Without the command line, which takes a second to start. */
async function verdictsOf(url: string, waitMs = 60_000): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const options = {
    url,
    secret: SECRET,
    rail: 'ETHEREUM',
    asset: 'ETH',
    amount: '0.5',
    timeoutMs: 30_000,
  } as const;
  const destination = { address: deriveAddress('ETHEREUM', 'payee') };
  const restart = async (): Promise<void> => void (await fetch(`${url}/restart`));
  const given = { ...options, waitMs, destination, assets, networks: NETWORKS, restart };
  for await (const verdict of testAdapter(given, new AbortController().signal)) verdicts.push(verdict);
  return verdicts;
}

describe('a broken adapter', () => {
  it('passes as long as nothing of it is broken', async () => {
    const adapter = await startBreakableAdapter();
    expect((await verdictsOf(adapter.url)).filter(({ result }) => result === 'violated')).toEqual([]);
    const { code, stdout } = await test(adapter.url, ...CHAIN);
    expect(stdout).toMatch(/The adapter obeys the contract: 17 rules tested, 2 not applicable\.\n$/);
    expect(code).toBe(0);
    await adapter.close();
  });

  it.each(Object.entries(DEFECTS).filter((_, index) => IS_LONG || index % 3 === 0))(
    'that %s fails with a sentence that says so',
    async (defect, sentence) => {
      const adapter = await startBreakableAdapter(defect as Defect);
      const verdicts = await verdictsOf(adapter.url, defect === 'never ends a payment' ? 1_000 : undefined);
      const violated = verdicts.filter(({ result }) => result === 'violated');
      expect(violated.map(({ rule, found }) => `${rule}: ${found}`)).toContainEqual(
        expect.stringContaining(sentence),
      );
      for (const { todo } of violated) expect(todo).toMatch(/^([A-Z]|completed).*[.]$/);
      await adapter.close();
    },
  );

  it('ends the command with 1, as text and as JSON', async () => {
    const adapter = await startBreakableAdapter('does not check timestamps');
    const shown = await test(adapter.url, ...CHAIN);
    expect(shown.stdout).toContain(
      'VIOLATED a timestamp of ten minutes ago is refused: a payment with a timestamp of ten minutes ago gets 200, not 401\n         Refuse timestamps',
    );
    expect(shown.stdout).toMatch(/The adapter violates 1 rule of 19\.\n$/);
    const { code, stdout } = await test(adapter.url, ...CHAIN, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ obeys: false });
    expect([shown.code, code]).toEqual([1, 1]);
    await adapter.close();
  });
});

describe('wrong usage', () => {
  it.each([
    [['--url', 'ftp://x'], '--url must be a URL that starts with https:// or http://.'],
    [
      ['--url', 'http://x', '--secret-env', 'NOPE'],
      '--secret-env names NOPE, which is not set in the environment.',
    ],
    [
      ['--url', 'http://x', '--secret-env', 'HOME'],
      '--secret-env names HOME, which must be whsec_ followed by',
    ],
    [['--url', 'http://x', '--rail', 'pigeon'], '--rail must be one of wire, cubix,'],
    [['--url', 'http://x', '--asset', 'DOGE'], '--asset must be a configured asset, not "DOGE".'],
    [['--url', 'http://x', '--amount', '0.001'], '--amount has 3 decimals, at most 2 are allowed.'],
  ])('%j is refused with a sentence', async (args, sentence) => {
    const { code, stderr } = await runFerry(['rails', 'test', ...args], { ...ENV, HOME: 'not a secret' });
    expect(stderr).toContain(sentence);
    expect(code).toBe(2);
  });

  it('an adapter that is not running is one line', async () => {
    const { code, stdout } = await test('http://127.0.0.1:1');
    expect(stdout).toMatch(
      /^VIOLATED GET \/health answers: GET \/health gets no answer: connect ECONNREFUSED/,
    );
    expect(stdout).toContain('The adapter violates 1 rule of 1.');
    expect(code).toBe(1);
  });
});
