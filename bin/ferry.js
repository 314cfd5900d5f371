#!/usr/bin/env node
// Starts Ferry's command line on the Node that the project brings along, whatever Node is on the machine.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const MAJOR_MIN = 24;
const major = Number(process.versions.node.split('.')[0]);
const cli = new URL('../src/cli.ts', import.meta.url);

if (major >= MAJOR_MIN) {
  // Types are stripped at every start; the cache keeps the result, which halves the time to the first answer.
  module.enableCompileCache();
  await import(cli.href);
} else {
  const own = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(own)) {
    console.error(
      `ferry needs Node ${MAJOR_MIN} or newer; this is ${process.version}, and "npm ci" has not installed one.`,
    );
    process.exit(1);
  }
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // As shells do it: 128 and the number of the signal that ended it.
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
