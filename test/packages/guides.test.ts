import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathWithCurl } from '../support/curl.ts';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import { type FerryProcess, removeDataDir, sandboxOf, startFerry } from '../support/process.ts';
import { IS_LONG } from '../support/rounds.ts';
import { blocksIn, ferryOnPath, guide, linkClient } from './guides.ts';
import { ROOT } from './installed.ts';

const folder = mkdtempSync(join(tmpdir(), 'ferry-guides-'));
linkClient(folder);
const dataDir = makePreparedDataDir();
const environment = {
  PATH: `${ferryOnPath(folder)}:${pathWithCurl()}`,
  HOME: folder,
  FERRY_DATA_DIR: dataDir,
};
let ferry: FerryProcess;
/** The variables that the login of the quickstart sets, as commands: it takes a process of two seconds, so it runs once. */
let session: string;
beforeAll(async () => {
  ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
  session = await paste(login!, 'export TOKEN; declare -px');
});
afterAll(async () => {
  await ferry.end('SIGTERM');
  await removeDataDir(dataDir);
  rmSync(folder, { recursive: true });
});

/** Runs the commands in one shell. */
async function paste(...commands: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-c', ['set -eu', ...commands].join('\n')], {
    cwd: folder,
    env: environment,
  });
  return stdout;
}

const [, login, transfer] = blocksIn('docs/quickstart.md', 'bash');

/** What a guide shows as the output: the first block without a language after the code. */
const shownAfter = (path: string, code: string): string =>
  /\n```\n([\s\S]*?)^```$/m.exec(guide(path).slice(guide(path).indexOf(code) + code.length))![1]!;

/** A program of a guide, run as the guide says. */
function run(code: string): Promise<string> {
  writeFileSync(join(folder, 'program.ts'), code);
  return paste(session, `"${process.execPath}" program.ts`);
}

describe('the quickstart', () => {
  it('makes a transfer with curl, which a retry repeats', async () => {
    const first = JSON.parse(await paste(session, transfer!));
    expect(first).toMatchObject({ type: 'PLATFORM_TRANSFER_DEBIT', status: 'COMPLETED', amount: '25' });
    expect(JSON.parse(await paste(session, transfer!))).toEqual(first);
  });

  it('prints with the client what it shows', async () => {
    const [code] = blocksIn('docs/quickstart.md', 'ts');
    expect(await run(code!)).toBe(shownAfter('docs/quickstart.md', code!));
  });
});

describe('the guide to idempotency', () => {
  it('prints what it shows: executed once, replayed, refused', async () => {
    const [code] = blocksIn('docs/idempotency.md', 'bash');
    const printed = await paste(session, code!);
    expect(printed.toLowerCase()).toBe(shownAfter('docs/idempotency.md', code!).toLowerCase());
  });

  it('gets the same transfer for the same ref_id with the client', async () => {
    const [code] = blocksIn('docs/idempotency.md', 'ts');
    expect(await run(code!)).toBe('true\n');
  });
});

describe('the guide to settlement', () => {
  it('settles with the client, and prints what it shows', async () => {
    const [code] = blocksIn('docs/settlement.md', 'ts');
    expect(await run(code!)).toBe(shownAfter('docs/settlement.md', code!));
  });
});

describe('the guide to the sandbox', () => {
  it.runIf(IS_LONG)('starts over with other customers', async () => {
    const [before] = sandboxOf(dataDir).customers;
    await ferry.end('SIGTERM');
    await paste(blocksIn('docs/sandbox.md', 'bash').find((block) => block.startsWith('rm -r'))!);
    expect(existsSync(dataDir)).toBe(false);
    ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
    const [after] = sandboxOf(dataDir).customers;
    expect(after!.client_id).not.toBe(before!.client_id);
    expect(after!.profiles[0]!.id).not.toBe(before!.profiles[0]!.id);
  });
});

describe('the guides', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));

  it('are all in the index', () => {
    const index = guide('docs/README.md');
    expect(pages.filter((name) => name !== 'README.md' && !index.includes(`](${name})`))).toEqual([]);
  });

  it('never tell a reader without a checkout to run npx ferry, which is a package of somebody else', () => {
    const paragraphs = ['SECURITY.md', ...globSync('docs/**/*.md', { cwd: ROOT })]
      .filter((path) => path !== 'docs/rails-evm.md') // A guide to a checkout: it begins with npm ci.
      .flatMap((path) =>
        guide(path)
          .split('\n\n')
          .map((text) => ({ path, text })),
      );
    const bad = paragraphs.filter(({ text }) => /npx\s+ferry/.test(text) && !text.includes('checkout'));
    expect(bad).toEqual([]);
    expect(guide('docs/rails-evm.md')).toContain('npm ci');
  });

  it('lead to headings that exist', () => {
    const anchors = (text: string): string[] =>
      [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map((match) =>
        match[1]!
          .toLowerCase()
          .replaceAll('`', '')
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      );
    const broken = pages.flatMap((page) =>
      [...guide(`docs/${page}`).matchAll(/\]\(([\w.-]*\.md)?#([^)]+)\)/g)]
        .filter(([, target, anchor]) => !anchors(guide(`docs/${target ?? page}`)).includes(anchor!))
        .map(([link]) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});
