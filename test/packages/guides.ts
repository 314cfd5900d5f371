import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './installed.ts';

export const guide = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The blocks of a guide in that language, or without one (`''`), in their order. */
export function blocksIn(path: string, language: string): string[] {
  return [...guide(path).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2]!);
}

/** Programs in the folder find @ferry/client, as after `npm install` of its tarball. */
export function linkClient(folder: string): void {
  const target = join(folder, 'node_modules/@ferry/client');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(target, 'package.json'), '{"type":"module","exports":"./index.js"}');
  writeFileSync(join(target, 'index.js'), `export * from '${join(ROOT, 'packages/client/src/index.ts')}';\n`);
}

/** A folder with the command `ferry`, as an installation has it. */
export function ferryOnPath(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/ferry.js')}" "$@"\n`;
  writeFileSync(join(bin, 'ferry'), script, { mode: 0o755 });
  return bin;
}

/** A certificate that signs itself: cert.pem and key.pem in the folder. */
export function makeCertificate(folder: string, name: string): void {
  const kind =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout key.pem -out cert.pem';
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync('openssl', [...kind.split(' '), ...names], { cwd: folder, stdio: 'ignore' });
}
