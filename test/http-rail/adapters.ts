import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createAdapterClient } from '../../src/http-rail/client.ts';
import { createHttpRail, loadValidation } from '../../src/http-rail/rail.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import type { Rail, RailName } from '../../src/rails/rail.ts';
import { newSecret } from '../../src/webhooks/secrets.ts';
import { assets } from '../support/ledger.ts';
import { until } from '../support/until.ts';

/** The example adapters as their users run them: processes that keep their payments in a file. */

const EXAMPLES = resolve(import.meta.dirname, '../../examples');
export const PYTHON_ADAPTER = join(EXAMPLES, 'adapter-python/adapter.py');
export const GO_ADAPTER = join(EXAMPLES, 'adapter-go/main.go');

export const SECRET = newSecret();

/** How a language is installed where it is missing; undefined where it is there. */
export function missing(language: 'python3' | 'go'): string | undefined {
  try {
    execFileSync(language, [language === 'go' ? 'version' : '--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return language === 'go'
      ? 'install Go 1.24 or later (https://go.dev/dl)'
      : 'install Python 3.9 or later (https://python.org)';
  }
}

/** A port that was free a moment ago: an adapter that is restarted has to listen on the same one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

export type Adapter = {
  readonly url: string;
  readonly directory: string;
  pid(): number;
  start(): Promise<void>;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** By its own record: how often the payment was accepted, and how often it was made. */
  recordOf(key: string): { accepted: number; payments: number };
  keys(): string[];
  remove(): Promise<void>;
};

type Line = { key: string; status: string; order?: object };

export async function startAdapter(
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<Adapter> {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-adapter-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = join(directory, 'payments.jsonl');
  let child: ChildProcess | undefined;
  let output = '';
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      () => true,
      () => false,
    );
  const linesOf = (): Line[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Line)
      : [];
  const adapter: Adapter = {
    url,
    directory,
    pid: () => child!.pid!,
    async start() {
      const { PATH = '', HOME = '' } = process.env;
      const own = { ADAPTER_SECRET: SECRET, ADAPTER_FILE: file, PORT: String(port), ADAPTER_DELAY_S: '0.02' };
      child = spawn(command[0]!, command.slice(1), { env: { PATH, HOME, ...own, ...env } });
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (text) => {
          output += text;
        });
      await until(`the adapter listens: ${output}`, isUp);
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((done) => child!.once('exit', done));
      child.kill('SIGKILL');
      await exited;
    },
    async restart() {
      await adapter.kill();
      await adapter.start();
    },
    recordOf(key) {
      const own = linesOf().filter((line) => line.key === key);
      return {
        // A key that is accepted twice has two first lines.
        accepted: own.filter(({ status }) => status === 'pending' || status === 'failed').length,
        payments: own.filter(({ status }) => status === 'completed').length,
      };
    },
    keys: () => [...new Set(linesOf().map(({ key }) => key))],
    async remove() {
      await adapter.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await adapter.start();
  return adapter;
}

export const startPythonAdapter = (env: Record<string, string> = {}): Promise<Adapter> =>
  startAdapter(['python3', PYTHON_ADAPTER], env);

/** The HTTP rail of a node, without the node. */
export async function openHttpRail(
  url: string,
  options: {
    readonly name?: RailName;
    readonly timeoutMs?: number;
    readonly horizonMs?: number;
    readonly secret?: string;
    readonly troubles?: string[];
  } = {},
): Promise<Rail & { close(): void }> {
  const { name = 'wire', timeoutMs = 30_000, horizonMs = 60_000, secret = SECRET, troubles = [] } = options;
  const client = createAdapterClient({ url, secrets: [secret], timeoutMs, nowMs: () => Date.now() });
  const rail = createHttpRail({
    name,
    horizonMs,
    client,
    validation: await loadValidation(),
    assets,
    networks: NETWORKS,
    takesDeposits: true,
    quotesFees: true,
    trouble: (what) => void troubles.push(what),
  });
  return { ...rail, close: client.close };
}
