import { describe, expect, it } from 'vitest';
import { all, type File, folderOf, folders, isStore, sources } from './sources.ts';

/** From the inside out: a layer imports itself and those before it. */
const LAYERS = ['kernel', 'networks', 'database', 'sealing', 'ledger', 'events'];
const OUTER = ['http', 'cli', 'tables.ts', 'vault.ts', 'capabilities.ts', 'main.ts', 'serve.ts'];
const capabilities = folders.filter((folder) => ![...LAYERS, ...OUTER].includes(folder));
const own = (file: File): string[] => file.imports.filter((one) => one.endsWith('.ts'));

/** "file imports what", for a readable failure. */
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

  it('no two folders import each other, directly or in a cycle', () => {
    const nodeOf = (path: string): string => folderOf(path) || path;
    const graph = new Map<string, Map<string, string>>();
    for (const file of sources) {
      const edges = graph.get(nodeOf(file.path)) ?? new Map<string, string>();
      graph.set(nodeOf(file.path), edges);
      for (const one of own(file))
        if (nodeOf(one) !== nodeOf(file.path)) edges.set(nodeOf(one), `${file.path} imports ${one}`);
    }
    /** The imports that lead from a folder back to it; empty if there is no cycle. */
    const cycleFrom = (start: string): string[] => {
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
    expect([...graph.keys()].flatMap(cycleFrom)).toEqual([]);
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

  it('the HTTP layer names no operation and no path', () => {
    const operations = sources.flatMap(({ text }) =>
      [...text.matchAll(/\b(?:operationId|path): '([^']+)'/g)].map((match) => match[1]!),
    );
    expect(operations.length).toBeGreaterThan(50);
    const named = sources
      .filter((file) => folderOf(file.path) === 'http')
      .flatMap(({ path, text }) =>
        operations.filter((one) => text.includes(`'${one}'`)).map((one) => `${path} names ${one}`),
      );
    expect(named).toEqual([]);
  });

  it('no capability imports the store of another one', () => {
    const files = sources.filter((file) => capabilities.includes(folderOf(file.path)));
    expect(
      offences(
        files,
        (one, file) =>
          isStore(one) && ![folderOf(file.path), 'events', 'sealing', 'rails'].includes(folderOf(one)),
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

  it('only these files connect to the database, so every connection of a node passes the admission', () => {
    const connecting = sources.filter((file) => file.text.includes('connectDatabase('));
    expect(connecting.map((file) => file.path).sort()).toEqual([
      'database/database.ts',
      'database/open.ts',
      'database/reach.ts',
    ]);
  });

  it('the contract of rails does not access the database; the queue that rails share, and what they are opened with, do', () => {
    const mayAccess = (path: string): boolean => isStore(path) || path === 'rails/kind.ts';
    const rails = sources.filter(({ path }) => folderOf(path) === 'rails' && !mayAccess(path));
    expect(offences(rails, (one) => ['database', 'ledger'].includes(folderOf(one)))).toEqual([]);
  });

  it('every import names an existing file', () => {
    const known = new Set(all.map((file) => file.path));
    const missing = all.flatMap((file) =>
      own(file).filter((one) => !one.startsWith('..') && !known.has(one)),
    );
    expect(missing).toEqual([]);
  });
});
