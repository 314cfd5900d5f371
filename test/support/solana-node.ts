import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { base58 } from '@scure/base';
import type { KeyPairSigner } from '@solana/kit';
import { type Library, loadLibrary } from '../../src/chains/solana/library.ts';
import type { SolanaSettings } from '../../src/chains/solana/settings.ts';

/**
 * A real Solana runtime on this machine (Surfpool), reached through a relay that can misbehave. The relay also repairs one thing:
 * Surfpool reports blocks that contain transactions with other hashes than the blocks after them name as their parent.
 */

type Surfnet = {
  readonly rpcUrl: string;
  fundSol(address: string, lamports: number): void;
  drainEvents(): unknown[];
  stop(): void;
};
type SurfnetModule = { Surfnet: { startWithConfig(options: object): Surfnet } };

export type Call = { readonly method: string; readonly params: readonly unknown[] };
type Answer = { result?: unknown; error?: { code: number; message: string } };
/** Changes the answer of a node; undefined leaves it as it is. */
export type Behaviour = (call: Call, answer: Answer) => Answer | undefined;

export type Relay = {
  readonly url: string;
  /** Calls by method since the start. */
  readonly calls: Map<string, number>;
  behave(behaviour: Behaviour | undefined): void;
  /** Answers in place of the node, which does not get the call; undefined passes it on. */
  intercept(instead: ((call: Call) => Answer | undefined) | undefined): void;
  /** Refuses connections until it is up again. */
  setDown(isDown: boolean): void;
  /** Slots that have no block. */
  readonly skipped: Set<number>;
  close(): Promise<void>;
};

const hashOf = (slot: number): string => base58.encode(createHash('sha256').update(`slot ${slot}`).digest());

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Gives every block the hash that the next one names as its parent, and leaves out the slots that are to have none. */
function repair({ method, params }: Call, answer: Answer, skipped: ReadonlySet<number>): Answer {
  const before = (slot: number): number => (skipped.has(slot - 1) ? before(slot - 1) : slot - 1);
  if (method === 'getBlocksWithLimit' && Array.isArray(answer.result)) {
    let first = params[0] as number;
    while (skipped.has(first)) first += 1;
    return { result: [first] };
  }
  if (method !== 'getBlock' || answer.result == null) return answer;
  const slot = params[0] as number;
  if (skipped.has(slot)) return { error: { code: -32_007, message: `Slot ${slot} was skipped` } };
  const parentSlot = before(slot);
  return {
    result: { ...answer.result, parentSlot, blockhash: hashOf(slot), previousBlockhash: hashOf(parentSlot) },
  };
}

export async function startRelay(target: string, port = 0): Promise<Relay> {
  const calls = new Map<string, number>();
  const skipped = new Set<number>();
  let behaviour: Behaviour | undefined;
  let instead: ((call: Call) => Answer | undefined) | undefined;
  let isDown = false;
  const server = createServer((request, response) => {
    void (async () => {
      if (isDown) {
        request.socket.destroy();
        return;
      }
      const body = await bodyOf(request);
      const call = JSON.parse(body) as Call;
      calls.set(call.method, (calls.get(call.method) ?? 0) + 1);
      const passOn = async (): Promise<Answer> => {
        const headers = { 'content-type': 'application/json' };
        const upstream = await fetch(target, { method: 'POST', headers, body });
        return repair(call, (await upstream.json()) as Answer, skipped);
      };
      const answer = instead?.(call) ?? (await passOn());
      const { result, error } = behaviour?.(call, answer) ?? answer;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: 1, ...(error ? { error } : { result: result ?? null }) }),
      );
    })().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    behave: (next) => {
      behaviour = next;
    },
    intercept: (next) => {
      instead = next;
    },
    setDown(next) {
      isDown = next;
      if (next) server.closeAllConnections();
    },
    skipped,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export type TestChain = {
  readonly library: Library;
  readonly relay: Relay;
  /** Another node of the same chain. */
  relayed(): Promise<Relay>;
  readonly genesisHash: string;
  call<Result>(method: string, ...params: unknown[]): Promise<Result>;
  fund(address: string, lamports: bigint): void;
  /** A new key with so many lamports. */
  wallet(lamports?: bigint): Promise<KeyPairSigner>;
  settings(overrides?: Partial<SolanaSettings>): SolanaSettings;
  stop(): Promise<void>;
};

export async function startSolana(slotTimeMs = 10, port = 0): Promise<TestChain> {
  const { Surfnet } = createRequire(import.meta.url)('@solana/surfpool-linux-x64-gnu') as SurfnetModule;
  const net = Surfnet.startWithConfig({ offline: true, blockProductionMode: 'clock', slotTimeMs });
  // Its queue of events is bounded; when it is full, the node stops.
  const drain = setInterval(() => net.drainEvents(), 50);
  const library = await loadLibrary();
  const relay = await startRelay(net.rpcUrl, port);
  const relays = [relay];
  async function call<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(net.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { result, error } = (await response.json()) as Answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  }
  const genesisHash = await call<string>('getGenesisHash');
  return {
    library,
    relay,
    async relayed() {
      const another = await startRelay(net.rpcUrl);
      relays.push(another);
      return another;
    },
    genesisHash,
    call,
    fund: (address, lamports) => net.fundSol(address, Number(lamports)),
    async wallet(lamports = 0n) {
      const signer = await library.kit.generateKeyPairSigner();
      if (lamports > 0n) net.fundSol(signer.address, Number(lamports));
      return signer;
    },
    settings: (overrides = {}) => ({
      network: 'SOLANA',
      nodes: [{ url: relay.url, headers: {} }],
      genesisHash,
      nodesAgreeing: 1,
      confirmations: 32,
      blockMs: 10,
      scanPauseMs: 10,
      lanes: [],
      native: 'SOL',
      tokens: [],
      nonceAccounts: 4,
      batchPaymentsMax: 16,
      priority: { priceMin: 1_000n, priceMax: 1_000_000n, percentile: 75 },
      lowMark: undefined,
      highMark: undefined,
      ...overrides,
    }),
    async stop() {
      clearInterval(drain);
      await Promise.all(relays.map((one) => one.close()));
      net.stop();
    },
  };
}
