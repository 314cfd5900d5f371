import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathWithCurl } from '../support/curl.ts';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import { type FerryProcess, removeDataDir, sandboxOf, startFerry } from '../support/process.ts';

const run = promisify(execFile);

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

function blocksOf(language: string): string[] {
  return [...README.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2]!);
}

/** All blocks but `npm ci && npm start`, which startFerry replaces. The last one runs the program that the reader has saved. */
const [installation, ...commands] = blocksOf('bash');
const [program] = blocksOf('ts');

/** The one block that talks to that address, or one that begins so. */
function blockFor(path: string): string {
  const found = commands.filter((block) => block.includes(path));
  expect(found).toHaveLength(1);
  return found[0]!;
}

const END = '-- end of a block --';

/** Runs everything in one shell, as a reader would paste it. Returns the output of each block. */
async function paste(blocks: readonly string[], env: Record<string, string>): Promise<string[]> {
  const script = ['set -eu', ...blocks.flatMap((block) => [block, `printf %s '${END}'`])].join('\n');
  const { stdout } = await run('bash', ['-c', script], { cwd: ROOT, env });
  return stdout.split(END).slice(0, -1);
}

const dataDir = makePreparedDataDir();
let ferry: FerryProcess;
/** The output of each block of the README, in order, parsed if it is JSON. */
let answers: any[];
let platform: any;
let replay: string;
let changed: any;

beforeAll(async () => {
  ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
  const { HOME = dataDir } = process.env;
  const transfer = blockFor('/v2/transfer/platform');
  const saved = join(dataDir, 'tour.ts');
  writeFileSync(saved, program!.replace("'./packages", `'${ROOT}/packages`));
  const printed = await paste(
    [
      ...commands.map((block) => block.replace('tour.ts', saved)),
      // What the text between the blocks tells the reader to do.
      transfer.replace('curl -s', 'curl -s -i'),
      transfer.replace('"amount": "25"', '"amount": "26"'),
      // For the test only.
      'printf %s "$TOKEN"; printf %s " $FERRY"',
    ],
    { PATH: `${join(ROOT, 'node_modules/.bin')}:${pathWithCurl()}`, HOME, FERRY_DATA_DIR: dataDir },
  );
  answers = printed.map((text) => (text.startsWith('{') ? JSON.parse(text) : text));
  platform = answers[commands.indexOf(transfer)];
  replay = answers[commands.length];
  changed = answers[commands.length + 1];
});
afterAll(async () => {
  await ferry?.end('SIGTERM');
  await removeDataDir(dataDir);
});

const answerTo = (path: string): any => answers[commands.indexOf(blockFor(path))];
const id = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe('the commands of the README, pasted into one shell', () => {
  it('start with the installation, and there are four of them', () => {
    expect(installation).toContain('npm ci && npm start');
    expect(commands).toHaveLength(4);
  });

  it('set the variables of the demo customer and get a token', () => {
    const [token, url] = answers.at(-1).split(' ');
    expect(answers[0]).toBe('');
    expect(url).toBe(sandboxOf(dataDir).base_url);
    expect(token.split('.')).toHaveLength(3);
  });

  it('move 25 USD to the other customer', () => {
    const [customer] = sandboxOf(dataDir).customers;
    expect(platform).toMatchObject({
      id,
      type: 'PLATFORM_TRANSFER_DEBIT',
      status: 'COMPLETED',
      asset: 'USD',
      amount: '25',
      total: '25',
      fee: '0',
      profile_id: customer!.profiles[0]!.id,
      ref_id: 'invoice-1001',
      metadata: { invoice: '1001' },
    });
  });

  it('return the same record when sent again, and mark it with a header', () => {
    const [head, body] = replay.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 200 /);
    expect(head).toMatch(/^idempotent-replayed: true\r?$/im);
    expect(JSON.parse(body!)).toEqual(platform);
  });

  it('answer 409 when sent again with another amount, and name the field', () => {
    expect(changed).toMatchObject({
      status: 409,
      meta: { differs: ['amount'], existing: { id: platform.id } },
    });
  });

  it('show the remaining balance', () => {
    expect(answerTo('/balances/USD')).toMatchObject({ asset: 'USD', available: '999975', held: '0' });
  });

  it('run the program, which prints what the README shows', () => {
    const shown = /npx -c 'node tour.ts'\n```\n\n```\n([\s\S]*?)```/.exec(README)![1];
    expect(answers[commands.length - 1]).toBe(shown);
  });
});

describe('the answer that the README shows', () => {
  it('has only fields that the real one has, with the same values', () => {
    const [sample] = blocksOf('json');
    const shown = JSON.parse(sample!.replace(/,\s*…\s*\}/, '}')) as Record<string, string>;
    expect(Object.keys(shown).length).toBeGreaterThan(5);
    // Ids differ from run to run: the README abbreviates them.
    const real = Object.fromEntries(
      Object.entries(shown).map(([name, value]) => [name, value.endsWith('…') ? value : platform[name]]),
    );
    expect(shown).toEqual(real);
    expect(Object.keys(platform)).toEqual(expect.arrayContaining(Object.keys(shown)));
  });
});

describe('the links of the documentation', () => {
  const markdownUnder = (directory: string): string[] =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(directory, name));
  const files = [
    ...readdirSync(ROOT)
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(ROOT, name)),
    ...markdownUnder(join(ROOT, 'docs')),
  ].map((path) => relative(ROOT, path));

  it('are checked in all files', () => {
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/operations.md']),
    );
  });

  it.each(files)('in %s lead to existing files', (file) => {
    const text = readFileSync(join(ROOT, file), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !/^(https?:|mailto:|#)/.test(target));
    const missing = targets.filter(
      (target) => !existsSync(resolve(ROOT, dirname(file), target.replace(/#.*$/, ''))),
    );
    expect(missing).toEqual([]);
  });
});
