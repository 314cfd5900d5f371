import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AdapterTest, testAdapter, type Verdict } from '../http-rail/adapter-test.ts';
import { adapterUrlFault, secretFault } from '../http-rail/kind.ts';
import { LIMITS } from '../limits.ts';
import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';
import {
  CommandError,
  type CommandLine,
  counted,
  type Invocation,
  noArguments,
  text,
  UsageError,
} from './command-line.ts';

/** `ferry rails test`: the contract of adapters, for their authors. */

const WAIT_SECONDS = 60;

function optional(invocation: Invocation, name: string): string | undefined {
  return invocation.options[name] === undefined ? undefined : text(invocation, name);
}

function urlOf(invocation: Invocation): string {
  const url = text(invocation, 'url');
  const fault = adapterUrlFault(url, 'sandbox');
  if (fault !== undefined) throw new UsageError(`--url ${fault}.`);
  return url.replace(/\/+$/, '');
}

function secretOf(invocation: Invocation): string {
  const name = text(invocation, 'secret-env');
  const value = invocation.env[name];
  if (value === undefined || value === '')
    throw new UsageError(`--secret-env names ${name}, which is not set in the environment.`);
  const fault = secretFault(value);
  if (fault !== undefined) throw new UsageError(`--secret-env names ${name}, which ${fault}.`);
  return value;
}

function waitMsOf(invocation: Invocation): number {
  const given = optional(invocation, 'wait');
  if (given !== undefined && !/^[1-9][0-9]{0,5}$/.test(given))
    throw new UsageError(`--wait must be a number of seconds, not "${given}".`);
  return Number(given ?? WAIT_SECONDS) * 1_000;
}

/** A destination that the networks of the register accept, unless the author names one. */
function destinationOf(invocation: Invocation, rail: AdapterTest['rail']): object {
  const { networks } = invocation.config;
  const given = optional(invocation, 'destination');
  if (given !== undefined) {
    try {
      return JSON.parse(given) as object;
    } catch {
      throw new UsageError('--destination must be JSON, such as {"address": "…"}.');
    }
  }
  if (networks.isCryptoNetwork(rail))
    throw new UsageError(
      `--destination is required for ${rail}: {"address": "an address on your test network"}.`,
    );
  return {
    instructions: { [rail]: networks.fiat(rail).sandboxInstructions },
    owner: { type: 'INDIVIDUAL', name: 'Ada Lovelace' },
  };
}

/** Whether it accepts connections, whatever it makes of a request without a signature. */
const isUp = (url: string): Promise<boolean> =>
  fetch(`${url}/health`, { signal: AbortSignal.timeout(HTTP_RAIL_LIMITS.timeoutMs) }).then(
    () => true,
    (error: Error) => (error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ECONNREFUSED',
  );

/** Runs the author's command, then waits until the adapter can be reached again. */
function restartWith(command: string, url: string): () => Promise<void> {
  return async () => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 'ignore', 'inherit'] });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    if (code !== 0) throw new CommandError(`The command of --restart-command ended with ${code}.`);
    const endMs = performance.now() + LIMITS.railCheckTimeoutMs;
    while (!(await isUp(url))) {
      if (performance.now() > endMs)
        throw new CommandError(`${url} does not answer after --restart-command.`);
      await sleep(100);
    }
  };
}

function readTest(invocation: Invocation): AdapterTest {
  const { assets, networks } = invocation.config;
  const rail = optional(invocation, 'rail') ?? 'wire';
  if (!networks.isCryptoNetwork(rail) && !networks.isFiatKind(rail))
    throw new UsageError(
      `--rail must be one of ${[...networks.fiatKinds, ...networks.cryptoNetworks].join(', ')}.`,
    );
  const native = networks.isCryptoNetwork(rail) ? networks.crypto(rail).native.asset : 'USD';
  const asset = optional(invocation, 'asset') ?? native;
  if (assets.find(asset) === undefined)
    throw new UsageError(`--asset must be a configured asset, not "${asset}".`);
  const amount = optional(invocation, 'amount') ?? '1';
  const parsed = assets.parse(asset, amount);
  if (!parsed.ok) throw new UsageError(`--amount ${parsed.message}.`);
  const url = urlOf(invocation);
  const command = optional(invocation, 'restart-command');
  return {
    url,
    secret: secretOf(invocation),
    rail,
    asset,
    amount: assets.format(asset, parsed.units),
    destination: destinationOf(invocation, rail),
    timeoutMs: HTTP_RAIL_LIMITS.timeoutMs,
    waitMs: waitMsOf(invocation),
    assets,
    networks,
    ...(command !== undefined && { restart: restartWith(command, url) }),
  };
}

const MARKS = { ok: 'ok       ', violated: 'VIOLATED ', 'not provided': '–        ' } as const;

function lineOf({ rule, result, found, todo }: Verdict): string {
  const line = `${MARKS[result]}${rule}: ${found}`;
  return todo === undefined ? line : `${line}\n         ${todo}`;
}

export const RAILS_TEST: CommandLine = {
  name: 'rails test',
  summary: 'test an adapter for the HTTP rail against its contract',
  usage: 'rails test --url <url> --secret-env <variable> [--json]',
  details: [
    'For authors of adapters, see docs/http-rail.md. Makes about 30 payments over the adapter: use its test environment. Needs',
    'neither a database nor a running service. Prints a line for every rule, and exits with 1 if one is violated.',
  ].join('\n'),
  options: {
    url: { value: 'url', help: 'the address of the adapter, as in the configuration of the rail' },
    'secret-env': { value: 'variable', help: 'the environment variable that contains the secret' },
    rail: { value: 'rail', help: 'the rail that the adapter serves; wire unless given' },
    asset: {
      value: 'code',
      help: 'an asset that the adapter can pay; USD or the coin of the network unless given',
    },
    amount: { value: 'decimal', help: 'an amount that the adapter can pay; 1 unless given' },
    destination: { value: 'json', help: 'a destination that the adapter can pay to' },
    wait: { value: 'seconds', help: `how long a payment may take; ${WAIT_SECONDS} unless given` },
    'restart-command': { value: 'command', help: 'restarts the adapter; tests that no payment is lost' },
  },
  json: true,
  async run(invocation) {
    noArguments(invocation);
    const { json, print, progress } = invocation;
    const test = readTest(invocation);
    progress(`Testing ${test.url} as the ${test.rail} rail, with payments of ${test.amount} ${test.asset} …`);
    const verdicts: Verdict[] = [];
    for await (const verdict of testAdapter(test, new AbortController().signal)) {
      verdicts.push(verdict);
      if (!json) print(lineOf(verdict));
    }
    const count = (wanted: Verdict['result']): number =>
      verdicts.filter(({ result }) => result === wanted).length;
    const violated = count('violated');
    if (json) print(JSON.stringify({ rules: verdicts, obeys: violated === 0 }, null, 2));
    else
      print(
        violated === 0
          ? `The adapter obeys the contract: ${counted(count('ok'), 'rule')} tested, ${count('not provided')} not applicable.`
          : `The adapter violates ${counted(violated, 'rule')} of ${verdicts.length}.`,
      );
    return violated === 0 ? 0 : 1;
  },
};
