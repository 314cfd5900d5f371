import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The files that the rules are about. */
export const ROOT = resolve(import.meta.dirname, '../..');
const SOURCE = join(ROOT, 'src');

export type File = { path: string; text: string; lines: number; imports: string[] };

export function filesUnder(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesUnder(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

export const linesIn = (text: string): number => text.split('\n').length;

function readSource(path: string): File {
  const text = readFileSync(path, 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);
  const imports = specifiers.map((one) =>
    one.startsWith('.') ? relative(SOURCE, resolve(dirname(path), one)) : one,
  );
  return { path: relative(SOURCE, path), text, lines: linesIn(text), imports };
}

/** Everything in src; paths are relative to it. */
export const all = filesUnder(SOURCE).map(readSource);
export const sources = all.filter((file) => !file.path.endsWith('.test.ts'));
/** Empty for files directly in src. */
export const folderOf = (path: string): string =>
  path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
export const isStore = (path: string): boolean => /(^|[/-])store\.ts$/.test(path);
export const folders = [...new Set(sources.map((file) => folderOf(file.path)))].filter((one) => one !== '');
