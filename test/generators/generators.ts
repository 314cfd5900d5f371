/**
 * `npm run test:generators`: clients that are generated from the OpenAPI document. Each is generated, compiled, and makes a
 * transfer and reads a list of a real Ferry. Generators whose language is not on the machine are named, not run.
 * The last lines are a table of all of them; the exit code is not 0 if one failed.
 *
 *   npm run test:generators                  all of them
 *   npm run test:generators -- go python     those whose names contain one of the words
 *
 * The generators come from their registries (Maven, PyPI, the Go proxy, npm) into a folder of their own, which is kept for the
 * next run: FERRY_GENERATORS_DIR, or ferry-generators in the temporary folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDataDir, removeDataDir, sandboxOf, startFerry, tokenFrom } from '../support/process.ts';
import { attempt, canRun, type Run, runnerIn } from './commands.ts';
import { GENERATORS } from './list.ts';
import { isSuccess, type Outcome, summaryOf } from './summary.ts';

const words = process.argv.slice(2);
const home = process.env.FERRY_GENERATORS_DIR ?? join(tmpdir(), 'ferry-generators');

const chosen = GENERATORS.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);

async function generateAll(document: string, env: Record<string, string>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { name, version, needs, run } of chosen) {
    const missing = needs.filter((program) => !canRun(program));
    if (missing.length > 0) {
      console.log(`not run  ${name}: not on the PATH: ${missing.join(', ')}`);
      outcomes.push({ name, version, durationMs: 0, missing });
      continue;
    }
    const folder = join(home, 'clients', name.replaceAll(/\W+/g, '-'));
    const runIn: Run = runnerIn(folder, env);
    const start = performance.now();
    const failure = await attempt(() => run({ folder, tools: join(home, 'tools'), document, run: runIn }));
    console.log(failure === undefined ? `ok       ${name}` : `FAILED   ${name}\n${failure}`);
    outcomes.push({ name, version, durationMs: performance.now() - start, missing, failure });
  }
  return outcomes;
}

const dataDir = makeDataDir();
const ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
try {
  const [customer, counterparty] = sandboxOf(dataDir).customers;
  const document = join(home, 'openapi.json');
  mkdirSync(home, { recursive: true });
  writeFileSync(document, await (await fetch(`${ferry.url}/openapi.json`)).text());
  const outcomes = await generateAll(document, {
    FERRY_URL: ferry.url,
    FERRY_TOKEN: await tokenFrom(ferry.url, customer!),
    FERRY_FROM: customer!.profiles[0]!.id,
    FERRY_TO: counterparty!.profiles[0]!.id,
  });
  console.log(`\n${summaryOf(outcomes)}`);
  process.exitCode = isSuccess(outcomes) ? 0 : 1;
} finally {
  await ferry.end('SIGTERM');
  await removeDataDir(dataDir);
}
