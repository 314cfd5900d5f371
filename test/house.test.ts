import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The rules of the house, executed: ARCHITECTURE.md says them in words. */
const ROOT = resolve(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'src');

type File = { path: string; text: string; lines: number; imports: string[] };

function filesUnder(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesUnder(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

function readSource(path: string): File {
  const text = readFileSync(path, 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);
  const imports = specifiers.map((one) =>
    one.startsWith('.') ? relative(SOURCE, resolve(dirname(path), one)) : one,
  );
  return { path: relative(SOURCE, path), text, lines: text.split('\n').length, imports };
}

const all = filesUnder(SOURCE).map(readSource);
const sources = all.filter((file) => !file.path.endsWith('.test.ts'));
const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '');
const own = (file: File): string[] => file.imports.filter((one) => one.endsWith('.ts'));
const isStore = (path: string): boolean => /(^|[/-])store\.ts$/.test(path);

/** From the inside out: a layer imports itself and those before it. */
const folders = [...new Set(sources.map((file) => folderOf(file.path)))].filter((folder) => folder !== '');
const LAYERS = ['kernel', 'networks', 'database', 'sealing', 'ledger', 'events'].filter((one) =>
  folders.includes(one),
);
const OUTER = ['http', 'cli', 'tables.ts', 'capabilities.ts', 'main.ts', 'serve.ts'];
const capabilities = folders.filter((folder) => ![...LAYERS, ...OUTER].includes(folder));

/** Pairs "file imports what", for a readable failure. */
function offences(files: readonly File[], isOffence: (imported: string, file: File) => boolean): string[] {
  return files.flatMap((file) =>
    file.imports.filter((one) => isOffence(one, file)).map((one) => `${file.path} imports ${one}`),
  );
}

describe('imports point inwards', () => {
  it.each(LAYERS.map((layer, index) => [layer, index] as const))(
    '%s imports nothing outside of itself and the layers before it',
    (layer, index) => {
      const allowed = [...LAYERS.slice(0, index + 1), 'limits.ts'];
      const files = sources.filter((file) => folderOf(file.path) === layer);
      const isOffence = (one: string): boolean =>
        one.endsWith('.ts') && !allowed.includes(folderOf(one) === '' ? one : folderOf(one));
      expect(files.length).toBeGreaterThan(0);
      expect(offences(files, isOffence)).toEqual([]);
    },
  );

  it('capabilities do not import HTTP, the command line or the composition root', () => {
    const files = sources.filter((file) => capabilities.includes(folderOf(file.path)));
    expect(capabilities.length).toBeGreaterThan(5);
    expect(offences(files, (one) => OUTER.includes(folderOf(one) || one))).toEqual([]);
  });

  it('no two folders import each other, directly or in a ring', () => {
    const nodeOf = (path: string): string => folderOf(path) || path;
    const graph = new Map<string, Map<string, string>>();
    for (const file of sources) {
      const edges = graph.get(nodeOf(file.path)) ?? new Map<string, string>();
      graph.set(nodeOf(file.path), edges);
      for (const one of own(file))
        if (nodeOf(one) !== nodeOf(file.path)) edges.set(nodeOf(one), `${file.path} imports ${one}`);
    }
    /** The imports that lead from a folder back to it; empty if there is no way. */
    const ringFrom = (start: string): string[] => {
      const seen = new Set<string>();
      const search = (node: string): string[] | undefined => {
        for (const [next, why] of graph.get(node) ?? []) {
          if (next === start) return [why];
          if (seen.has(next)) continue;
          seen.add(next);
          const rest = search(next);
          if (rest !== undefined) return [why, ...rest];
        }
        return undefined;
      };
      return search(start) ?? [];
    };
    expect(graph.size).toBeGreaterThan(15);
    expect([...graph.keys()].flatMap(ringFrom)).toEqual([]);
  });

  it('only the list of capabilities, the composition root and tests construct them', () => {
    const builders = ['capabilities.ts', 'main.ts'];
    const isOffence = (one: string, file: File): boolean =>
      one.endsWith('/capability.ts') && folderOf(one) !== 'kernel' && !builders.includes(file.path);
    expect(offences(sources, isOffence)).toEqual([]);
  });

  it('every folder that has operations is a capability', () => {
    const withRoutes = folders.filter((folder) => sources.some(({ path }) => path === `${folder}/routes.ts`));
    const lacking = withRoutes.filter(
      (folder) => folder !== 'http' && !sources.some(({ path }) => path === `${folder}/capability.ts`),
    );
    expect(lacking).toEqual([]);
  });

  it('the HTTP layer does not know any operation by its name or its path', () => {
    const operations = sources.flatMap(({ text }) =>
      [...text.matchAll(/\b(?:operationId|path): '([^']+)'/g)].map((match) => match[1]!),
    );
    expect(operations.length).toBeGreaterThan(50);
    const known = sources
      .filter((file) => folderOf(file.path) === 'http')
      .flatMap(({ path, text }) =>
        operations.filter((one) => text.includes(`'${one}'`)).map((one) => `${path} knows ${one}`),
      );
    expect(known).toEqual([]);
  });

  it('no capability imports the store of another one', () => {
    const files = sources.filter((file) => capabilities.includes(folderOf(file.path)));
    expect(
      offences(
        files,
        (one, file) => isStore(one) && folderOf(one) !== folderOf(file.path) && folderOf(one) !== 'events',
      ),
    ).toEqual([]);
  });

  it('rules import only the kernel, the networks and their own folder', () => {
    const rules = sources.filter((file) => file.path.endsWith('/rules.ts'));
    expect(rules.length).toBeGreaterThan(0);
    const isOffence = (one: string, file: File): boolean =>
      one.endsWith('.ts') &&
      !['kernel', 'networks'].includes(folderOf(one)) &&
      one !== 'limits.ts' &&
      folderOf(one) !== folderOf(file.path);
    expect(offences(rules, isOffence)).toEqual([]);
  });

  it('only the database folder imports the driver', () => {
    expect(offences(sources, (one, file) => one === 'pg' && folderOf(file.path) !== 'database')).toEqual([]);
  });

  it('only these files connect to the database, so that every connection of a node is admitted', () => {
    const connecting = sources.filter((file) => file.text.includes('connectDatabase('));
    expect(connecting.map((file) => file.path).sort()).toEqual([
      'database/database.ts',
      'database/open.ts',
      'database/reach.ts',
    ]);
  });

  it('rails never see the database', () => {
    const rails = sources.filter((file) => folderOf(file.path) === 'rails');
    expect(offences(rails, (one) => ['database', 'ledger'].includes(folderOf(one)))).toEqual([]);
  });

  it('every import names a file that is there', () => {
    const known = new Set(all.map((file) => file.path));
    const missing = all.flatMap((file) =>
      own(file).filter((one) => !one.startsWith('..') && !known.has(one)),
    );
    expect(missing).toEqual([]);
  });
});

describe('one place for each kind of thing', () => {
  it('SQL stands only in stores, the ledger and the database folder', () => {
    const withSql = sources.filter((file) => /\b(query|script)(<[^(]*>)?\(\s*[`']/.test(file.text));
    const allowed = (path: string): boolean =>
      isStore(path) || ['ledger', 'database'].includes(folderOf(path)) || path === 'http/operations.ts';
    expect(withSql.map((file) => file.path).filter((path) => !allowed(path))).toEqual([]);
  });

  it('only the ledger touches the tables of the ledger', () => {
    const tables =
      /\b(from|into|update|join)\s+(balances|entries|system_balances|system_deltas|idempotency_keys)\b/i;
    const touching = sources.filter((file) => tables.test(file.text)).map((file) => file.path);
    expect(touching.filter((path) => folderOf(path) !== 'ledger')).toEqual([]);
  });

  it('only the command line hands over the environment, and only config.ts reads it', () => {
    const readers = sources.filter((file) => file.text.includes('process.env')).map((file) => file.path);
    expect(readers).toEqual(['cli/cli.ts']);
  });

  it('money is never a JavaScript number', () => {
    const suspicious = /parseFloat\(|toFixed\(|Number\([\w.]*([Aa]mount|[Uu]nits|[Ff]ee|[Bb]alance|[Tt]otal)/;
    expect(sources.filter((file) => suspicious.test(file.text)).map((file) => file.path)).toEqual([]);
  });

  it('no class but errors', () => {
    const classes = sources.flatMap((file) =>
      [...file.text.matchAll(/^(?:export )?class (\w+)( extends \w+)?/gm)]
        .filter((match) => match[2] === undefined)
        .map((match) => `${file.path}: ${match[1]}`),
    );
    expect(classes).toEqual([]);
  });
});

describe('a table is read and written only by its owner', () => {
  const holdsSql = (path: string): boolean =>
    isStore(path) || ['ledger', 'database'].includes(folderOf(path));
  const statements = sources
    .filter(({ path }) => holdsSql(path))
    .map(({ path, text }) => ({ path, sql: text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '') }));
  const migrations = readdirSync(join(ROOT, 'migrations'))
    .sort()
    .map((name) => readFileSync(join(ROOT, 'migrations', name), 'utf8'))
    .join('\n');
  const named = (pattern: RegExp): string[] =>
    [...migrations.matchAll(pattern)].flatMap((match) => match[1]!.split(/,\s*/));
  const dropped = named(/^drop table ([\w, ]+);/gm);
  // One that was dropped and created again is still there.
  const tables = [...new Set(named(/^create table (\w+)/gm))].filter(
    (table) =>
      !dropped.includes(table) ||
      migrations.lastIndexOf(`create table ${table} `) > migrations.lastIndexOf(`drop table ${table}`),
  );

  const touches = (sql: string, words: string, table: string): boolean =>
    new RegExp(`\\b(${words})\\s+${table}\\b`, 'i').test(sql) ||
    new RegExp(`(appendTo<\\w+>\\(|table: )'${table}'`).test(sql);
  const WRITING = 'insert into|update|delete from';
  const ANY = `${WRITING}|from|join`;
  const ownersOf = (table: string): string[] => [
    ...new Set(
      statements.filter(({ sql }) => touches(sql, WRITING, table)).map(({ path }) => folderOf(path)),
    ),
  ];

  /** Statements that read another folder's table, and why they may. */
  const EXCEPTIONS: Readonly<Record<string, string>> = {
    'webhooks/lease-store.ts touches event_groups of events':
      'one statement claims the endpoints that have newer events; asking for each endpoint would be a query each',
  };

  it('and every table has exactly one', () => {
    expect(tables.length).toBeGreaterThan(25);
    const owners = Object.fromEntries(tables.map((table) => [table, ownersOf(table)]));
    expect(Object.entries(owners).filter(([, found]) => found.length !== 1)).toEqual([]);
  });

  it('apart from these exceptions', () => {
    const foreign = tables.flatMap((table) => {
      const [owner] = ownersOf(table);
      return statements
        .filter(({ path, sql }) => folderOf(path) !== owner && touches(sql, ANY, table))
        .map(({ path }) => `${path} touches ${table} of ${owner}`);
    });
    expect(foreign).toEqual(Object.keys(EXCEPTIONS));
  });
});

describe('an installation without development dependencies', () => {
  type Manifest = Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; dependencies?: Record<string, string> }>;
  };

  it('has every package that the service imports, and the Node that runs it', () => {
    const imports = /^(?:import|export)\b[^;']*?from '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/gm;
    const imported = sources
      .flatMap((file) => [...file.text.matchAll(imports)].map((match) => (match[1] ?? match[2])!))
      .filter((one) => !one.startsWith('node:'))
      .map((one) => /^(@[^/]+\/)?[^/]+/.exec(one)![0]);
    expect(imported).toContain('fastify');
    const missing = [...new Set(imported)].filter((one) => !(one in manifest.dependencies));
    expect(missing).toEqual([]);
  });

  it('has everything that those packages need', () => {
    const needed = Object.keys(manifest.dependencies);
    for (const name of needed) {
      const more = Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {});
      needed.push(...more.filter((one) => !needed.includes(one)));
    }
    expect(needed.filter((name) => packages[`node_modules/${name}`]?.dev === true)).toEqual([]);
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

  it('names only files that exist', () => {
    const named = [...text.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map((match) => match[1]!);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('walks on: no walk comes back to a file that it has left', () => {
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

describe('time', () => {
  /** Where the wall clock of a node is read, how often, and why it may be. */
  const WALL_CLOCK: Readonly<Record<string, { times: number; why: string }>> = {
    'kernel/id.ts': { times: 1, why: 'ids are unique whatever it says, and never go back within a process' },
    'database/embedded/process.ts': { times: 1, why: 'compared with the time of a file' },
    'database/embedded/files.ts': { times: 1, why: 'compared with the time of a file' },
  };

  it('intervals are monotonic, and what is stored is compared with the clock of the database: no node goes by its own', () => {
    const readings = sources.flatMap(({ path, text }) => {
      const found = [...text.matchAll(/\bDate\.now\b|\bnew Date(?:\(\)|(?!\())|(?<!new )\bDate\(/g)];
      return found.length === 0 ? [] : [[path, found.length] as const];
    });
    const allowed = Object.entries(WALL_CLOCK).map(([path, { times }]) => [path, times] as const);
    expect(Object.fromEntries(readings)).toEqual(Object.fromEntries(allowed));
  });
});

describe('the lock file', () => {
  type Locked = { optionalDependencies?: Record<string, string>; resolved?: string };
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };

  it('names the optional packages of every platform, or npm ci refuses it (npm run lock makes it whole)', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('holds no download addresses', () => {
    expect(Object.values(packages).filter((one) => one.resolved !== undefined)).toEqual([]);
  });
});

describe('sizes', () => {
  it('no source file has more than 400 lines', () => {
    expect(sources.filter((file) => file.lines > 400).map((file) => `${file.path}: ${file.lines}`)).toEqual(
      [],
    );
  });

  it('every migration has its number', () => {
    const names = readdirSync(join(ROOT, 'migrations')).sort();
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
  });
});

describe('the register of networks', () => {
  it('is the only place with a table by network or by kind of fiat account', () => {
    const table = /Record<(CryptoNetwork|FiatKind|FiatNetwork|RailName)\b/;
    const keepers = sources.filter((file) => table.test(file.text)).map((file) => file.path);
    expect(keepers.filter((path) => folderOf(path) !== 'networks')).toEqual([]);
  });
});
