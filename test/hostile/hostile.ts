/**
 * `npm run hostile`: sends many thousands of hostile requests, made from the OpenAPI document, to a sandbox of its own, and
 * exits with 1 if an answer is wrong: a 5xx, a refused request that wrote something, an answer that tells the id of another
 * customer from one of nobody, and more; see `oracles.ts`.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { cleanUpWhenInterrupted } from '../../bench/machine.ts';
import { campaign } from './campaign.ts';
import { type Counters, listed } from './counters.ts';

const HELP = `npm run hostile -- [options]

  --requests <number>     how many requests to send (default 100000)
  --seed <number>         the seed of all choices (default: a random one, which is printed)
  --connections <number>  connections that send at the same time (default 8)
  --only <number>         only the request with this number of the seed, to repeat a finding
  --help                  this text

Exits with 1 if there is a finding. Each finding is printed with its seed and number, and the command that repeats it.`;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    connections: { type: 'string', default: '8' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function natural(name: string, text: string): number {
  if (!/^[0-9]{1,10}$/.test(text)) throw new Error(`--${name} must be a number, not "${text}": see --help`);
  return Number(text);
}

const integer = (number: number): string => Math.round(number).toLocaleString('en-US');

function progressLine({ sent, byStatus, retried }: Counters, findings: number, elapsedMs: number): string {
  return `${integer(sent)} requests, ${integer(sent / (elapsedMs / 1_000))} a second; by status: ${listed(byStatus)}; ${retried} retried; ${findings} findings`;
}

async function main(): Promise<boolean> {
  const seed = values.seed === undefined ? randomInt(2 ** 31) : natural('seed', values.seed);
  const only = values.only === undefined ? undefined : natural('only', values.only);
  const requests = only === undefined ? natural('requests', values.requests) : 1;
  const startedMs = performance.now();
  console.log(`seed ${seed}: ${integer(requests)} requests`);
  const options = {
    first: only ?? 0,
    requests,
    seed,
    withWorkers: true,
    connections: Math.max(1, natural('connections', values.connections)),
    progress: (now: Counters, found: number) =>
      console.log(progressLine(now, found, performance.now() - startedMs)),
  };
  const { counters, findings, verified, seconds } = await campaign(options, (stage) =>
    cleanUpWhenInterrupted(() => stage.close()),
  );
  const { byKind, acceptedByKind, byAccess } = counters;
  console.log(
    `\nby kind: ${listed(byKind)}\n\naccepted by kind: ${listed(acceptedByKind)}\n\nby token: ${listed(byAccess)}\n`,
  );
  for (const { number, what, request, answer } of findings) {
    const repeat = number < 0 ? '' : `\n  repeat:  npm run hostile -- --seed ${seed} --only ${number}`;
    console.log(
      `FINDING seed ${seed}, request ${number}: ${what}\n  request: ${request}\n  answer:  ${answer}${repeat}\n`,
    );
  }
  const { sent, accepted, refused, retried, compared, slowest } = counters;
  console.log(`slowest answer: ${integer(slowest.ms)} ms, request ${slowest.number} (${slowest.what})`);
  console.log(verified);
  console.log(
    `seed ${seed}: ${integer(sent)} requests in ${integer(seconds)} s, ${integer(accepted)} accepted, ${integer(refused)} refused, ` +
      `${integer(retried)} sent again after a 429 or 503, ${integer(compared)} compared with the database; ${findings.length} findings`,
  );
  return findings.length === 0;
}

if (values.help) console.log(HELP);
else process.exitCode = (await main()) ? 0 : 1;
