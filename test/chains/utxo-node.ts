import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { UtxoNetwork } from '../../src/chains/utxo/chain.ts';
import { createRpc, type NodeSettings } from '../../src/chains/utxo/rpc.ts';
import { IS_LONG } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { isInstalled, type UtxoProgram } from '../support/utxo-programs.ts';

/** Real nodes, each with a chain of its own. */

type Start = {
  readonly directory: string;
  readonly rpcPort: number;
  readonly peerPort: number;
  /** Whom the blocks pay, in turns: a block that was taken back must not be mined again as it was. */
  readonly minerAddresses: readonly [string, string];
};

export type Kind = {
  readonly program: UtxoProgram;
  readonly network: UtxoNetwork;
  readonly replaces: boolean;
  /** Whether `gettxout` leaves out what the mempool spends. */
  readonly tellsSpends: boolean;
  /** Whether it begins with an empty chain after every start. */
  readonly forgets: boolean;
  args(start: Start): string[];
  mine(blocks: number, minerAddress: string): [method: string, params: unknown[]];
};

const auth = ['rpcuser=ferry', 'rpcpass=ferry'];

/**
 * Rules for relay are those of the main chain: that is what payments must pass. The extension block (MWEB) would begin with block 432,
 * which a node cannot mine unless somebody has paid into it.
 */
const coreArgs = ({ directory, rpcPort }: Start): string[] => [
  '-regtest',
  `-datadir=${directory}`,
  '-rpcuser=ferry',
  '-rpcpassword=ferry',
  `-rpcport=${rpcPort}`,
  '-listen=0',
  '-connect=0',
  '-acceptnonstdtxn=0',
  '-persistmempool=0',
  '-mempoolreplacement=1',
  '-disablewallet',
  '-dbcache=8',
  '-par=1',
  '-vbparams=mweb:4000000000:4000000001',
];

const goArgs = ({ directory, rpcPort, peerPort, minerAddresses }: Start): string[] => [
  '--regtest',
  `--datadir=${directory}`,
  `--logdir=${directory}/logs`,
  ...auth.map((one) => `--${one}`),
  `--rpclisten=127.0.0.1:${rpcPort}`,
  `--listen=127.0.0.1:${peerPort}`,
  '--notls',
  '--nodnsseed',
  '--rejectnonstd',
  `--miningaddr=${minerAddresses[0]}`,
];

const core: Pick<Kind, 'args' | 'mine'> = {
  args: coreArgs,
  mine: (blocks, minerAddress) => ['generatetoaddress', [blocks, minerAddress]],
};
const go: Pick<Kind, 'args' | 'mine'> = { args: goArgs, mine: (blocks) => ['generate', [blocks]] };

const KINDS: readonly Kind[] = [
  { program: 'litecoind', network: 'LITECOIN', replaces: true, tellsSpends: true, forgets: false, ...core },
  { program: 'btcd', network: 'BITCOIN', replaces: true, tellsSpends: false, forgets: true, ...go },
  { program: 'bchd', network: 'BITCOIN_CASH', replaces: false, tellsSpends: true, forgets: true, ...go },
];

export const installedKinds = KINDS.filter(({ program }) => isInstalled(program));

/** The quick run has one of them: tests of a wallet do the same on each. */
export const kindsOfThisRun = IS_LONG ? installedKinds : installedKinds.slice(0, 1);

export type TestNode = {
  readonly settings: NodeSettings;
  rpc(method: string, ...params: unknown[]): Promise<any>;
  mine(blocks: number): Promise<void>;
  /** Without its mempool. */
  restart(): Promise<void>;
  /** Without removing its files. */
  stopProcess(): Promise<void>;
  stop(): Promise<void>;
};

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}

export async function startNode(kind: Kind, minerAddresses: readonly [string, string]): Promise<TestNode> {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-node-'));
  const start = { directory, rpcPort: await freePort(), peerPort: await freePort(), minerAddresses };
  const settings = { url: `http://127.0.0.1:${start.rpcPort}/`, user: 'ferry', password: 'ferry' };
  const client = createRpc(settings);
  const rpc = async (method: string, ...params: unknown[]): Promise<any> =>
    (await client.call(method, params, new AbortController().signal, 120_000)).result;
  let child: ChildProcess;
  let turn = 0;
  const run = async (): Promise<void> => {
    child = spawn(kind.program, kind.args(start), { stdio: 'ignore' });
    await until(`${kind.program} answers`, async () => typeof (await rpc('getblockcount')) === 'number', 50);
  };
  const rawBlocks = async (): Promise<string[]> => {
    const blocks: string[] = [];
    for (let height = 1; height <= (await rpc('getblockcount')); height += 1)
      blocks.push(await rpc('getblock', await rpc('getblockhash', height), 0));
    return blocks;
  };
  await run();
  return {
    settings,
    rpc,
    async mine(blocks) {
      turn = 1 - turn;
      const [method, params] = kind.mine(blocks, minerAddresses[turn]!);
      await rpc(method, ...params);
    },
    async restart() {
      const blocks = kind.forgets ? await rawBlocks() : [];
      await endOf(child);
      await run();
      for (const block of blocks) await rpc('submitblock', block);
    },
    stopProcess: () => endOf(child),
    async stop() {
      await endOf(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Stands in front of a node. It changes the amounts in blocks; of the method that is named it passes the request on, and closes
 * the connection instead of answering. It has its own estimates of fees, in JSON.
 */
export async function startLiar(
  { settings }: TestNode,
  silentMethod?: string,
  estimates: Readonly<Record<string, string>> = {},
): Promise<{ readonly settings: NodeSettings; stop(): Promise<void> }> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { method } = JSON.parse(body) as { method: string };
    const { authorization = '' } = request.headers;
    const real = await fetch(settings.url, { method: 'POST', headers: { authorization }, body });
    const content = await real.text();
    if (method === silentMethod) {
      request.socket.destroy();
      return;
    }
    // The sequence number of an input, the number of outputs, and the first byte of an amount.
    const changed = method === 'getblock' ? content.replace(/(?<=ffffffff0[1-9])../, 'aa') : content;
    if (method in estimates) response.end(`{"result":${estimates[method]},"error":null,"id":1}`);
    else response.writeHead(real.status).end(changed);
  };
  const server = createHttpServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    settings: { ...settings, url: `http://127.0.0.1:${port}/` },
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
