import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, type Run, type RunOptions, run } from './run.ts';
import { openStage, type Stage } from './stage.ts';
import { createWorld, type World } from './world.ts';
import { byRequests } from './writes.ts';

export type Campaign = Run & {
  /** What `ferry verify` said at the end. */
  readonly verified: string;
  readonly seconds: number;
};

const QUIET_MS = 1_000;
const QUIET_MS_MAX = 120_000;

/** Every asset adds up to zero over all accounts, of customers and of the service: nothing was created or lost. */
async function assetFaults({ database }: Stage): Promise<string[]> {
  const rows = await database.query<{ asset: string; units: bigint }>(
    `select asset, sum(units)::numeric as units
     from (select asset, available + held as units from balances
           union all select asset, balance from system_balances
           union all select asset, delta from system_deltas) as all_accounts
     group by asset having sum(units) <> 0`,
  );
  return rows.map(({ asset, units }) => `all accounts together have ${units} units of ${asset}, and not 0`);
}

/** Until the workers have nothing left to write. */
async function untilQuiet({ writes }: Stage): Promise<void> {
  const deadlineMs = performance.now() + QUIET_MS_MAX;
  for (let quietMs = 0; quietMs < QUIET_MS; ) {
    await sleep(100);
    quietMs = byRequests(await writes.take()).length === 0 ? quietMs + 100 : 0;
    if (performance.now() > deadlineMs) return;
  }
}

/** The state of everything after a run: the workers, too, must cope with whatever was accepted. */
async function finalFaults(stage: Stage, withWorkers: boolean): Promise<string[]> {
  const faults = [...(await stage.troubles()), ...(await assetFaults(stage))];
  if (!withWorkers) return faults;
  await stage.restartWithWorkers();
  await untilQuiet(stage);
  return [...faults, ...(await stage.troubles()), ...(await assetFaults(stage))];
}

/** `opened` gets the stage, to close it if the run is interrupted. */
export async function campaign(
  options: RunOptions & { readonly withWorkers: boolean },
  opened: (stage: Stage) => void,
  prepared: (stage: Stage, world: World) => Promise<void> = async () => undefined,
): Promise<Campaign> {
  const stage = await openStage();
  opened(stage);
  try {
    const world = await createWorld(stage);
    await prepared(stage, world);
    const startedMs = performance.now();
    const { counters, findings } = await run(stage, world, options);
    const seconds = (performance.now() - startedMs) / 1_000;
    const last = (what: string): Finding => ({ number: -1, what, request: 'none', answer: 'none' });
    const faults = [...new Set(await finalFaults(stage, options.withWorkers))].map(last);
    const verified = await stage.verify();
    return { counters, findings: [...findings, ...faults], verified, seconds };
  } finally {
    await stage.close();
  }
}
