// Growth and soak, for programs and for people.
import { integer, median } from '../figures.ts';
import type { Machine } from '../machine.ts';
import { GROWTH_CONNECTIONS, type GrowthStage, gigabytes } from './growth.ts';
import { figuresOf, formatRows, onConnections, paceFigures, printPace } from './results.ts';
import type { Soak } from './soak.ts';
import { round, type Target } from './targets.ts';

const SAMPLES_SHOWN = 60;

export function growthResults(stages: readonly GrowthStage[], machine: Machine) {
  return {
    date: new Date().toISOString(),
    machine,
    sizes: stages.map((stage) => ({
      stored_transfers: stage.stored,
      database_gb: Number(gigabytes(stage.databaseBytes)),
      loaded_in_seconds: round(stage.loadSeconds, 0),
      ratio_to_first_size: round(stage.ratio, 2),
      transfers: figuresOf(stage.rounds),
      transfers_at_first_size: figuresOf(stage.baselineRounds),
      operations: stage.others.map(({ name, connections, measured }) => ({
        name,
        connections,
        ...figuresOf([measured]),
      })),
    })),
  };
}

export function printGrowth({ sizes }: ReturnType<typeof growthResults>): void {
  for (const size of sizes) {
    const stored = `${integer(size.stored_transfers)} stored`;
    console.log(
      `\n${formatRows([
        [`spread, ${stored}`, onConnections(GROWTH_CONNECTIONS), size.transfers],
        [
          'spread, first size, in turns with it',
          onConnections(GROWTH_CONNECTIONS),
          size.transfers_at_first_size,
        ],
        ...size.operations.map(
          (one) => [`${one.name}, ${stored}`, onConnections(one.connections), one] as const,
        ),
      ])}`,
    );
  }
  console.log('');
}

export function growthTarget({ sizes }: ReturnType<typeof growthResults>): Target {
  const [first, last] = [sizes[0]!, sizes.at(-1)!];
  return {
    what: `rate after ${integer(last.stored_transfers)} transfers ÷ rate at ${integer(first.stored_transfers)}`,
    value: last.ratio_to_first_size,
    bound: { atLeast: 0.9 },
    digits: 2,
  };
}

/** The samples in so many steps, each the median of its part. */
function thinned(samples: readonly number[]): number[] {
  const size = Math.max(1, Math.ceil(samples.length / SAMPLES_SHOWN));
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) =>
    round(median(samples.slice(index * size, (index + 1) * size)), 0),
  );
}

export function soakResults(soaked: Soak, machine: Machine) {
  return {
    date: new Date().toISOString(),
    machine,
    minutes: soaked.minutes,
    arriving_per_second: soaked.ratePerSecond,
    ...figuresOf([soaked.measured]),
    ...paceFigures([soaked.measured]),
    memory_growth: round(soaked.growth, 3),
    memory_mb_over_time: thinned(soaked.memoryMb),
  };
}

export function printSoak(results: ReturnType<typeof soakResults>): void {
  const { minutes, arriving_per_second: arriving, memory_mb_over_time: memory } = results;
  console.log(`\n${formatRows([[`spread, ${minutes} minutes`, `${integer(arriving)} arriving`, results]])}`);
  printPace(results);
  console.log(`Memory of the service in MB, from the start to the end: ${memory.join(' ')}\n`);
}

export function soakTargets(results: ReturnType<typeof soakResults>): Target[] {
  return [
    { what: 'memory under load', value: results.memory_mb, bound: { atMost: 300 }, digits: 0, unit: 'MB' },
    {
      what: 'memory of the last quarter ÷ memory of the second quarter',
      value: results.memory_growth,
      bound: { atMost: 1.05 },
      digits: 3,
    },
  ];
}
