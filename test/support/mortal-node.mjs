/**
 * Loaded into processes of the service (NODE_OPTIONS) by tests that kill them. Another node takes over after seconds, not half a
 * minute. If the file that FERRY_TEST_DEATH names contains the name of a checkpoint of the keeper, the process ends there, as with
 * kill -9. The keeper has no such switch itself: this changes its source text while it is loaded.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';

// npm may run on a Node that is too old to run TypeScript.
if (Number(process.versions.node.split('.')[0]) >= 24) {
  const { LIMITS } = await import('../../src/limits.ts');
  Object.assign(LIMITS, {
    chainLeaseMs: 2_000,
    chainLeaseTryMs: 200,
    chainPauseMsMax: 100,
    chainRebroadcastMs: 1_000,
    chainLookMsMax: 300,
    chainUpkeepMs: 1_000,
  });
  const file = process.env.FERRY_TEST_DEATH;
  if (file !== undefined) {
    globalThis.ferryCheckpoint = async (name) => {
      if (existsSync(file) && readFileSync(file, 'utf8') === name) process.kill(process.pid, 'SIGKILL');
    };
    const [given, changed] = [
      ', checkpoint } = parts;',
      ' } = parts;\n  const checkpoint = globalThis.ferryCheckpoint;',
    ];
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context);
        if (!url.endsWith('/src/chains/keeper.ts')) return loaded;
        const source = Buffer.from(loaded.source).toString('utf8');
        if (!source.includes(given)) throw new Error('the keeper has no checkpoints where they are expected');
        return { ...loaded, source: source.replace(given, changed) };
      },
    });
  }
}
