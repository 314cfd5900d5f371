import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { base58 } from '@scure/base';
import type { OnEnd, RunningNode } from './anvil.ts';
import type { SolanaNodePlan } from './plan.ts';

/** A Solana runtime inside this process, from npm: https://surfpool.run. Its chain ends with the process. */

type Surfnet = {
  readonly rpcUrl: string;
  fundSol(address: string, lamports: number): void;
  setAccount(address: string, lamports: number, data: number[], owner: string): void;
  fundToken(owner: string, mint: string, units: number): void;
  drainEvents(): unknown[];
  stop(): void;
};
type SurfnetModule = { Surfnet: { startWithConfig(options: object): Surfnet } };

/** Half of the real one, so that a newcomer waits half as long until something is final. */
const SLOT_MS = 200;
const DRAIN_MS = 50;
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const MINT_RENT_LAMPORTS = 1_461_600;
const DECIMALS = 6;

/** The account of a mint: no authority, the supply, decimals, initialized. */
function mintData(units: bigint): Buffer {
  const data = Buffer.alloc(82);
  data.writeBigUInt64LE(units, 36);
  data.writeUInt8(DECIMALS, 44);
  data.writeUInt8(1, 45);
  return data;
}

type Call = { readonly method: string; readonly params?: readonly unknown[] };
type Answer = { readonly result?: unknown };

const hashOf = (slot: number): string => base58.encode(createHash('sha256').update(`slot ${slot}`).digest());

/**
 * Surfpool reports blocks with transactions under other hashes than the blocks after them name as their parent. A scanner would take
 * each of them for a reorganisation. So every block gets the hash that the next one names.
 */
export function withLinkedBlocks({ method, params = [] }: Call, answer: Answer): Answer {
  if (method !== 'getBlock' || typeof answer.result !== 'object' || answer.result === null) return answer;
  const slot = params[0] as number;
  const linked = { parentSlot: slot - 1, blockhash: hashOf(slot), previousBlockhash: hashOf(slot - 1) };
  return { ...answer, result: { ...answer.result, ...linked } };
}

async function startRelay(target: string): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const upstream = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const answer = withLinkedBlocks(JSON.parse(body) as Call, (await upstream.json()) as Answer);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
    })().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function genesisOf(url: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
  });
  return ((await response.json()) as { result: string }).result;
}

export async function startSurfpool(
  packageName: string,
  { network, lane, coins, tokens, mints }: SolanaNodePlan,
  onEnd: OnEnd,
): Promise<RunningNode> {
  const { Surfnet } = createRequire(import.meta.url)(packageName) as SurfnetModule;
  const net = Surfnet.startWithConfig({ offline: true, blockProductionMode: 'clock', slotTimeMs: SLOT_MS });
  onEnd(() => net.stop());
  // Its queue of events is bounded; when it is full, the node stops.
  setInterval(() => net.drainEvents(), DRAIN_MS);
  net.fundSol(lane, Number(coins));
  for (const [code, mint] of Object.entries(mints)) {
    net.setAccount(mint, MINT_RENT_LAMPORTS, [...mintData(tokens[code]!)], TOKEN_PROGRAM);
    net.fundToken(lane, mint, Number(tokens[code]!));
  }
  const genesisHash = await genesisOf(net.rpcUrl);
  const url = await startRelay(net.rpcUrl);
  // It cannot end without this process.
  const ended = new Promise(() => undefined);
  return { node: { network, url, tokens: mints, genesisHash }, ended };
}
