import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAst } from 'vitest/node';
import { filesUnder, folderOf, folders, linesIn, ROOT, sources } from './sources.ts';

const LINES_MAX = 400;
/** Without the lines of functions inside it, which count for themselves. */
const FUNCTION_LINES_MAX = 60;

type Counted = { start: number; own: number };

/** Every function of a file, with the line at which it starts and the number of its own lines. */
function functionsIn(text: string): Counted[] {
  const found: Counted[] = [];
  const lineAt = (offset: number): number => linesIn(text.slice(0, offset));
  function visit(value: unknown, outer: Counted | undefined): void {
    if (value === null || typeof value !== 'object') return;
    let inside = outer;
    const node = value as { type?: unknown; start: number; end: number };
    if (typeof node.type === 'string' && /^(Arrow)?Function(Declaration|Expression)$/.test(node.type)) {
      const start = lineAt(node.start);
      inside = { start, own: lineAt(node.end) - start + 1 };
      found.push(inside);
      if (outer !== undefined) outer.own -= inside.own - 1;
    }
    for (const child of Object.values(value)) visit(child, inside);
  }
  visit(parseAst(text, { lang: 'ts' }), undefined);
  return found;
}

describe('sizes', () => {
  it(`no source file has more than ${LINES_MAX} lines`, () => {
    const tooLong = sources.filter((file) => file.lines > LINES_MAX);
    expect(tooLong.map((file) => `${file.path}: ${file.lines}`)).toEqual([]);
  });

  it(`no file of the console has more than ${LINES_MAX} lines`, () => {
    const names = readdirSync(join(ROOT, 'console/src'), { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => /\.tsx?$/.test(name));
    expect(files.length).toBeGreaterThan(30);
    const tooLong = files.filter(
      (name) => linesIn(readFileSync(join(ROOT, 'console/src', name), 'utf8')) > LINES_MAX,
    );
    expect(tooLong).toEqual([]);
  });

  it(`no function has more than ${FUNCTION_LINES_MAX} lines of its own`, () => {
    const functions = sources.flatMap(({ path, text }) =>
      functionsIn(text).map(({ start, own }) => ({ name: `${path}:${start}`, own })),
    );
    expect(functions.length).toBeGreaterThan(1_000);
    const tooLong = functions.filter(({ own }) => own > FUNCTION_LINES_MAX);
    expect(tooLong.map(({ name, own }) => `${name}: ${own}`)).toEqual([]);
  });

  it('every migration has its number', () => {
    const names = readdirSync(join(ROOT, 'migrations')).sort();
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
  });
});

describe('tests', () => {
  const files = [...filesUnder(join(ROOT, 'test')), ...filesUnder(join(ROOT, 'src'))].map((path) =>
    relative(ROOT, path),
  );
  const tests = files.filter((path) => path.endsWith('.test.ts'));

  it(`and their support have at most ${LINES_MAX} lines per file`, () => {
    const tooLong = files
      .filter((path) => path.startsWith('test/') || path.endsWith('.test.ts'))
      .map((path) => ({ path, lines: linesIn(readFileSync(join(ROOT, path), 'utf8')) }))
      .filter(({ lines }) => lines > LINES_MAX);
    expect(tooLong).toEqual([]);
  });

  it('have file names that occur once', () => {
    const byName = Map.groupBy(tests, (path) => basename(path));
    expect(tests.length).toBeGreaterThan(100);
    expect([...byName.values()].filter((same) => same.length > 1)).toEqual([]);
  });

  it('are in a folder of their capability, or in one that ARCHITECTURE.md explains', () => {
    const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
    const map = /^test\/.*\n((?: {2}.*\n)+)/m.exec(text)![1]!;
    const explained = [...map.matchAll(/^ {2}(\S+)\//gm)].map((match) => match[1]!);
    const used = files.map((path) => /^test\/(\S+?)\//.exec(path)?.[1]).filter((one) => one !== undefined);
    const others = [...new Set(used)].filter((name) => !folders.includes(name));
    expect(others.sort()).toEqual(explained.sort());
  });
});

describe('ARCHITECTURE.md', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

  it('names every folder and every file directly under src', () => {
    const map = /^src\/\n((?: {2}.*\n)+)/m.exec(text)![1]!;
    const entries = [...map.matchAll(/^ {2}(\S+)/gm)].map((match) => match[1]!);
    const files = sources.map(({ path }) => path).filter((path) => folderOf(path) === '');
    expect(entries.sort()).toEqual([...folders.map((folder) => `${folder}/`), ...files].sort());
  });

  it('names only existing files', () => {
    const named = [...text.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map((match) => match[1]!);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has no walk that returns to an earlier file', () => {
    const walks = text
      .slice(text.indexOf('## Walks'), text.indexOf('## The ledger'))
      .split('\n### ')
      .slice(1);
    expect(walks).toHaveLength(3);
    for (const walk of walks) {
      const passed = [...walk.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map((match) => match[1]!);
      expect(passed.filter((path, index) => passed.indexOf(path) !== index)).toEqual([]);
    }
  });
});
