import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, checkDataDir, readConfig } from '../config/config.ts';
import { processExists } from '../database/embedded/process.ts';
import { removeDataDir } from '../database/embedded/server.ts';
import { LIMITS } from '../limits.ts';
import { bookLiquidity } from '../sandbox/local-chains/liquidity.ts';
import { configOf, planChains } from '../sandbox/local-chains/plan.ts';
import { findPrograms } from '../sandbox/local-chains/programs.ts';
import { type LocalChains, startLocalChains } from '../sandbox/local-chains/start.ts';
import { chainsWelcome } from '../sandbox/local-chains/welcome.ts';
import { CommandError, type Invocation } from './command-line.ts';

/** `ferry sandbox --chains`: local nodes instead of simulated chains. */

function checkOwnSettings({ env }: Invocation): void {
  for (const name of ['DATABASE_URL', 'FERRY_CONFIG'])
    if (env[name] !== undefined && env[name] !== '')
      throw new CommandError(
        `ferry sandbox --chains starts with a new database and a configuration of its own: unset ${name}.`,
      );
}

/** The database and the chains belong together, and chains end with their nodes: so a start never continues another one. */
async function prepareDirectory({ dataDir }: Config, progress: (text: string) => void): Promise<string> {
  checkDataDir(dataDir);
  const directory = join(dataDir, 'chains');
  const pidFile = join(directory, 'sandbox.pid');
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : undefined;
  if (pid !== undefined && pid !== process.pid && processExists(pid))
    throw new CommandError(
      `ferry sandbox --chains runs already, as process ${pid} in ${directory}: stop it, or set FERRY_DATA_DIR to another directory.`,
    );
  await removeDataDir(directory, progress);
  checkDataDir(directory);
  mkdirSync(directory, { recursive: true });
  writeFileSync(pidFile, `${process.pid}`);
  return directory;
}

/** Says every few seconds that the start goes on, until it has ended. */
function startProgress(progress: (text: string) => void) {
  const startedAt = performance.now();
  const elapsed = (): number => Math.round((performance.now() - startedAt) / 1_000);
  const timer = setInterval(() => progress(`Still starting (${elapsed()} s).`), LIMITS.localChainProgressMs);
  return { elapsed, end: () => clearInterval(timer) };
}

async function startChains(invocation: Invocation) {
  const { progress } = invocation;
  const programs = findPrograms();
  for (const sentence of programs.missing) progress(sentence);
  const { anvil, surfpool } = programs;
  if (anvil === undefined && surfpool === undefined)
    throw new CommandError(
      'No local node is installed. Without --chains, ferry sandbox simulates every network.',
    );
  progress('Starting the sandbox with local chains.');
  const plan = await planChains({ evm: anvil !== undefined, solana: surfpool !== undefined });
  const networks = [...plan.evm, ...(plan.solana === undefined ? [] : [plan.solana])];
  progress(`Starting local nodes: ${networks.map(({ network }) => network).join(', ')}.`);
  const chains = await startLocalChains(plan, programs, progress).catch((error: unknown) => {
    throw new CommandError((error as Error).message);
  });
  return { plan, chains };
}

async function serveWith(
  invocation: Invocation,
  directory: string,
  {
    plan,
    chains,
    started,
  }: Awaited<ReturnType<typeof startChains>> & {
    started: ReturnType<typeof startProgress>;
  },
): Promise<void> {
  const { env, print, progress } = invocation;
  const path = join(directory, 'ferry.json');
  writeFileSync(path, `${JSON.stringify(configOf(plan, chains.nodes), null, 2)}\n`);
  const config = readConfig({ ...env, FERRY_CONFIG: path, FERRY_DATA_DIR: directory });
  progress(
    `Local nodes are ready (${started.elapsed()} s). Starting the service with a new database in ${directory}.`,
  );
  const { serve } = await import('../serve.ts');
  await serve(config, () => {
    started.end();
    void bookLiquidity(plan, directory)
      .catch((error: unknown) =>
        progress(`The liquidity of the wallets was not booked: ${(error as Error).message}`),
      )
      .finally(() => print(chainsWelcome(config, chains.nodes)));
  });
}

export async function runWithChains(invocation: Invocation): Promise<number> {
  checkOwnSettings(invocation);
  const started = startProgress(invocation.progress);
  let chains: LocalChains | undefined;
  try {
    const directory = await prepareDirectory(invocation.config, invocation.progress);
    const running = await startChains(invocation);
    chains = running.chains;
    await serveWith(invocation, directory, { ...running, started });
    await removeDataDir(directory, invocation.progress);
  } finally {
    started.end();
    await chains?.stop();
  }
  return 0;
}
