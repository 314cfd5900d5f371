import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathWithCurl } from '../support/curl.ts';
import { type FerryProcess, removeDataDir, startFerry } from '../support/process.ts';
import { until } from '../support/until.ts';

/** The walk through docs/rails-evm.md, in a directory that looks like a clone after `npm ci`. */

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/rails-evm.md'), 'utf8');
const section = /^## From an empty machine[\s\S]*?(?=^## )/m.exec(PAGE)![0];
const blocks = [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
  language: match[1]!,
  text: match[2]!,
}));
const commands = blocks.filter(({ language }) => language === 'bash').map(({ text }) => text);
const shown = blocks.find(({ language }) => language === '')!.text;

const clone = mkdtempSync(join(tmpdir(), 'ferry-guide-'));
// If root runs the tests, another user runs the server, and has to reach the directory below.
chmodSync(clone, 0o711);
const dataDir = join(clone, 'evm/data');
const { HOME = clone } = process.env;
const env = { PATH: `${join(ROOT, 'node_modules/.bin')}:${pathWithCurl()}`, HOME };

let port: number;
let chain: ChildProcess;
let ferry: FerryProcess;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port: found } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return found;
}

/** The page uses the usual port, which may be in use here. */
const adapted = (text: string): string => text.replaceAll('8545', `${port}`);

async function paste(...texts: string[]): Promise<string> {
  const script = ['set -eu', ...texts.map(adapted)].join('\n');
  return (await run('bash', ['-c', script], { cwd: clone, env })).stdout;
}

beforeAll(async () => {
  for (const name of ['package.json', 'node_modules', 'bin', 'src', 'migrations'])
    symlinkSync(join(ROOT, name), join(clone, name));
  port = await freePort();
});
afterAll(async () => {
  await ferry?.end('SIGTERM');
  if (chain?.pid !== undefined) process.kill(-chain.pid, 'SIGKILL');
  await removeDataDir(dataDir);
  rmSync(clone, { recursive: true, force: true });
});

describe('the guide to EVM networks, from an empty machine to the first withdrawal', () => {
  it('has an installation, a chain, a configuration, a start, and three things to try', () => {
    const [installation, node, , start] = commands;
    expect(commands).toHaveLength(7);
    expect(installation).toBe('npm ci\n');
    expect(node).toMatch(/^npx anvil /);
    expect(start).toBe('npm start\n');
  });

  it('starts a chain, and finds it with ferry rails check', async () => {
    chain = spawn('bash', ['-c', adapted(commands[1]!)], {
      cwd: clone,
      env,
      stdio: 'ignore',
      detached: true,
    });
    let found = '';
    await until('the check is sound', async () => {
      found = await paste(commands[2]!);
      return true;
    });
    // Heights, ages and the width of columns differ.
    const shape = (text: string): string =>
      adapted(text)
        .replace(/block \d+, \d+ ms (?:old|ahead of this clock)/, 'block')
        .replace(/ {2,}/g, ' ')
        .trim();
    expect(shape(found)).toBe(shape(shown));
  });

  it('withdraws, and shows the receipt of the transaction; credits a deposit', async () => {
    ferry = await startFerry({ FERRY_CONFIG: join(clone, 'evm/ferry.json'), FERRY_DATA_DIR: dataDir });
    const [withdrawal, receipt, deposit] = commands.slice(4);
    const end = `printf '\\n--\\n'\n`;
    const printed = await paste(withdrawal!, end, receipt!, end, deposit!);
    const [made, mined, rest] = printed.split('\n--\n').map((text) => text.trim());
    expect(JSON.parse(made!)).toMatchObject({ type: 'CRYPTO_WITHDRAWAL', status: 'PENDING', amount: '1.5' });
    expect(JSON.parse(mined!).result).toMatchObject({
      status: '0x1',
      to: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
    });
    expect(rest).toMatch(/^\{"jsonrpc":"2\.0","id":1,"result":"0x[0-9a-f]{64}"\}/);
    // 1000 at the start, less 1.5 and the fee of 0.001, and 2 more.
    expect(rest).toContain('"available":"1000.499"');
  });
});
