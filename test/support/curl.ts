import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The tests run the documented commands, which use curl. A machine that has only git, Node and npm may lack it; then a
 * stand-in that knows the options of those commands takes its place. It talks to the real service all the same.
 */
const STAND_IN = `
const options = { headers: {} };
let url, body, showHeaders = false;
const words = process.argv.slice(2);
while (words.length > 0) {
  const word = words.shift();
  if (word === '-s') continue;
  else if (word === '-i') showHeaders = true;
  else if (word === '-u') options.headers.authorization = 'Basic ' + btoa(words.shift());
  else if (word === '-d') body = words.shift();
  else if (word === '-H') { const [name, ...rest] = words.shift().split(': '); options.headers[name.toLowerCase()] = rest.join(': '); }
  else if (word.startsWith('-')) throw new Error('the stand-in for curl does not know ' + word);
  else url = word;
}
if (body !== undefined) {
  options.method = 'POST';
  options.body = body;
  options.headers['content-type'] ??= 'application/x-www-form-urlencoded';
}
const response = await fetch(url, options);
if (showHeaders) {
  const lines = ['HTTP/1.1 ' + response.status + ' ' + response.statusText];
  for (const [name, value] of response.headers) lines.push(name + ': ' + value);
  process.stdout.write(lines.join('\\r\\n') + '\\r\\n\\r\\n');
}
process.stdout.write(await response.text());
`;

export function makeCurlStandIn(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-curl-'));
  const path = join(directory, 'curl');
  // As a module, so that it may await; the ending is what tells Node.
  writeFileSync(join(directory, 'curl.mjs'), STAND_IN);
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${join(directory, 'curl.mjs')}" "$@"\n`);
  chmodSync(path, 0o755);
  return directory;
}

/** The search path, with a curl on it. */
export function pathWithCurl(): string {
  const { PATH = '' } = process.env;
  const hasCurl = spawnSync('curl', ['--version']).status === 0;
  return hasCurl ? PATH : `${makeCurlStandIn()}:${PATH}`;
}
