// Ferry's side of the comparison: callers in this process, each of which waits for its answer before it asks again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../src/database/database.ts';
import { workerActor } from '../src/kernel/actor.ts';
import { newId } from '../src/kernel/id.ts';
import type { Command } from '../src/ledger/command.ts';
import { createWritePath, type WritePath } from '../src/ledger/write-path.ts';
import { serverCpuUs } from './cpu.ts';
import { type Figures, MEASURED_SECONDS, PROFILES, WARM_UP_SECONDS, type Workload } from './figures.ts';
import { assets, profileIds } from './profiles.ts';

const ASSET = 'USD';
const ACTOR = workerActor('bench');

const IDS = profileIds(PROFILES);

function transfer(debtors: number): Command<string> {
  const fromIndex = Math.floor(Math.random() * debtors);
  const toIndex = (fromIndex + 1 + Math.floor(Math.random() * (PROFILES - 1))) % PROFILES;
  const from = IDS[fromIndex]!;
  const to = IDS[toIndex]!;
  const id = newId();
  return {
    actor: ACTOR,
    // As transfers inside the service do.
    optimistic: true,
    key: {
      customerId: from,
      space: 'transfers',
      refId: newId(),
      resourceId: id,
      request: { amount: '0.01', asset: ASSET, destination: to, source: from },
    },
    balances: [
      { profileId: from, asset: ASSET },
      { profileId: to, asset: ASSET },
    ],
    decide: () => ({
      accepted: true,
      causeId: id,
      postings: [
        {
          asset: ASSET,
          from: { profileId: from, account: 'available' },
          to: { profileId: to, account: 'available' },
          units: 1n,
        },
      ],
      writes: [],
      answer: id,
    }),
  };
}

function nodeCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export type Callers = {
  run(workload: Workload, callers: number): Promise<Figures & { readonly total: number }>;
  readonly writePath: WritePath;
};

export function createCallers(database: Database, postmasterPid: number): Callers {
  let batches = 0;
  let commands = 0;
  const writePath = createWritePath({
    database,
    assets,
    observer: {
      batch(count) {
        batches += 1;
        commands += count;
      },
      queue: () => undefined,
      trouble: (what, error) => console.error(`write path: ${what}`, error),
    },
  });

  const sample = () => ({
    commands,
    batches,
    ms: performance.now(),
    clientCpuUs: nodeCpuUs(),
    serverCpuUs: serverCpuUs(postmasterPid),
  });

  return {
    writePath,
    async run({ debtors }, callers) {
      let total = 0;
      const stop = new AbortController();
      const call = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const outcome = await writePath.submit(transfer(debtors));
          if (outcome.replayed) throw new Error('a new key was taken for a replay');
          total += 1;
        }
      };
      const all = Promise.all(Array.from({ length: callers }, call));
      // A caller that fails ends the measurement at once, not after it.
      await Promise.race([all, sleep(WARM_UP_SECONDS * 1000)]);
      const from = sample();
      await Promise.race([all, sleep(MEASURED_SECONDS * 1000)]);
      const to = sample();
      stop.abort();
      await all;
      const count = to.commands - from.commands;
      return {
        total,
        perSecond: (count / (to.ms - from.ms)) * 1000,
        clientCpuUs: (to.clientCpuUs - from.clientCpuUs) / count,
        serverCpuUs: (to.serverCpuUs - from.serverCpuUs) / count,
        batchSize: count / (to.batches - from.batches),
      };
    },
  };
}
