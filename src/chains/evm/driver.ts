import type { RailFinding } from '../../rails/kind.ts';
import { type BlockId, ChainWait, type Driver, type Outgoing } from '../driver.ts';
import { blockAt, confirmBlock } from './blocks.ts';
import { balanceData, callFor, callOf, contractOf } from './calls.ts';
import { checkNodes } from './check.ts';
import { loadCodec } from './codec.ts';
import { bytesLike, dataFee } from './data-fee.ts';
import { isMinable, replacementFees } from './fees.ts';
import { createNodes, type Nodes, quantity } from './nodes.ts';
import { createNonces, observe } from './observe.ts';
import { gasFor, planNext, priceNow } from './plan.ts';
import { createRpc } from './rpc.ts';
import type { EvmSettings } from './settings.ts';
import { evmTreasury } from './treasury.ts';

export type EvmOptions = {
  readonly settings: EvmSettings;
  /** For the age of versions: the clock that they are stored with. */
  readonly nowMs: () => number;
  readonly callTimeoutMs: number;
  readonly lanes: readonly string[];
};

/** How long a node that gave no answer is asked last. */
const REST_MS = 5_000;
/** Blocks by which a node may be behind the others, unless they take longer than this together. */
const LAG_MS = 30_000;
const LAG_BLOCKS_MIN = 3;
/** A view of the chain is used again for a part of the time between two blocks, so that a turn of the keeper shares it. */
const VIEW_SHARE = 8;
const VIEW_MS_MAX = 1_000;

function openNodes({ settings, callTimeoutMs }: Pick<EvmOptions, 'settings' | 'callTimeoutMs'>): Nodes {
  return createNodes(
    settings.nodes.map((url) => createRpc(url, callTimeoutMs)),
    {
      policy: settings.policy,
      lagBlocksMax: Math.max(LAG_BLOCKS_MIN, Math.ceil(LAG_MS / settings.blockMs)),
      restMs: REST_MS,
      viewMs: Math.min(VIEW_MS_MAX, settings.blockMs / VIEW_SHARE),
    },
  );
}

/** A block that as many nodes as needed have as final. Those who have it must have the same. */
async function finalBlock(nodes: Nodes, settings: EvmSettings, signal: AbortSignal): Promise<BlockId> {
  const views = await nodes.views(signal);
  if (views.length < settings.nodesAgreeing)
    throw new ChainWait('nodes-disagree', `${views.length} of ${settings.nodesAgreeing} nodes answer`);
  const heights = views.map(({ finalHeight }) => finalHeight).sort((a, b) => b - a);
  const height = heights[settings.nodesAgreeing - 1]!;
  const having = views.filter(({ head }) => head.height >= height);
  const headers = await Promise.all(having.map(({ rpc }) => nodes.headerAt(rpc, height, signal)));
  const [first] = headers;
  const other = headers.findIndex((header) => header?.hash !== first?.hash);
  if (first === null || first === undefined || other >= 0)
    throw new ChainWait(
      'nodes-disagree',
      `${having[0]!.rpc.name} and ${having[Math.max(0, other)]!.rpc.name} disagree about block ${height}`,
    );
  return { height, hash: first.hash };
}

async function holdingsOf(
  nodes: Nodes,
  settings: EvmSettings,
  addresses: readonly string[],
  signal: AbortSignal,
  at?: BlockId,
): Promise<Map<string, bigint>> {
  const tag = at === undefined ? 'latest' : quantity(at.height);
  const held = new Map<string, bigint>();
  const add = (asset: string, hex: string) =>
    void held.set(asset, (held.get(asset) ?? 0n) + BigInt(hex === '0x' ? 0 : hex));
  for (const address of addresses) {
    add(settings.native, await nodes.ask<string>('eth_getBalance', [address, tag], signal));
    for (const { asset, contract } of settings.tokens)
      add(
        asset,
        await nodes.ask<string>('eth_call', [{ to: contract, data: balanceData(address) }, tag], signal),
      );
  }
  return held;
}

export type EvmDriver = Driver & { readonly nodes: Nodes };

export async function createEvmDriver(options: EvmOptions): Promise<EvmDriver> {
  const { settings, nowMs } = options;
  const nodes = openNodes(options);
  const codec = await loadCodec(settings.chainId);
  const nonces = createNonces();
  const parts = { nodes, nonces, settings };

  return {
    nodes,
    network: settings.network,
    plan: (lane, waiting, signal) => planNext(nodes, settings, lane, waiting, signal),

    async build(assignment, versions, signal) {
      const nonce = BigInt(assignment.slot!);
      const gas = BigInt(assignment.details.gas ?? 21_000);
      const last = versions.at(-1);
      if (last !== undefined && nowMs() - last.signedAtMs < settings.bumpAfterMs) return undefined;
      const price = await priceNow(nodes, settings, signal);
      let fees = price?.fees;
      if (last !== undefined) {
        const [first] = await nodes.views(signal);
        const before = codec.feesOf(last.bytes);
        const isNext = (await nonces(first!, assignment.lane, first!.head.height, signal)) === nonce;
        // Behind a transaction that is stuck, a higher fee would change nothing.
        if (!isNext && isMinable(before, first!.head.baseFee, price?.fees)) return undefined;
        fees = replacementFees(before, price?.fees, settings.fees);
      }
      if (fees === undefined) return undefined;
      const bytes = codec.unsigned(callOf(assignment), nonce, gas, fees);
      const feeUnitsMax =
        gas * fees.maxFee + (await dataFee(nodes, settings.dataFeeOracle, bytes, gas, signal));
      return { bytes, feeUnitsMax, feeRate: fees.maxFee };
    },

    complete: (unsigned, signatures, lane) => codec.signed(unsigned, signatures, lane),

    async broadcast({ hash, bytes }, signal) {
      const views = await nodes.views(signal);
      const sent = await Promise.allSettled(
        views.map(async ({ rpc }) => {
          const answer = await rpc.call<string>('eth_sendRawTransaction', [bytes], signal).catch(
            // "Already known" is a refusal as well, with another text on every node: ask for the transaction itself.
            async (error: unknown) => {
              const known = await rpc.call<object | null>('eth_getTransactionByHash', [hash], signal);
              if (known === null) throw error;
              return hash;
            },
          );
          return answer;
        }),
      );
      if (sent.every(({ status }) => status === 'rejected')) throw (sent[0] as PromiseRejectedResult).reason;
    },

    observe: (assignment, versions, signal) => observe(parts, assignment, versions, signal),

    async head(signal) {
      const [first] = await nodes.views(signal);
      const { height, hash } = first!.head;
      return { height, hash };
    },
    final: (signal) => finalBlock(nodes, settings, signal),
    block: (height, isOurs, signal) => blockAt(nodes, settings, height, isOurs, signal, options.lanes),
    confirm: (block, received, signal) => confirmBlock(nodes, settings, block, received, signal),
    holdings: (addresses, signal, at) => holdingsOf(nodes, settings, addresses, signal, at),
    treasury: evmTreasury({ nodes, settings, codec }),

    async quote(asset, signal) {
      const price = await priceNow(nodes, settings, signal);
      const [lane] = options.lanes;
      if (price === undefined || lane === undefined) return undefined;
      const contract = contractOf(settings, asset);
      const example: Outgoing = { key: '', asset, units: 1n, address: lane };
      const gas = await gasFor(nodes, lane, example, contract, signal);
      const bytes = bytesLike(callFor(example, contract));
      const ofData = await dataFee(nodes, settings.dataFeeOracle, bytes, gas, signal);
      return gas * (price.baseFee + price.fees.tip) + ofData;
    },

    check: (signal): Promise<readonly RailFinding[]> => checkNodes(nodes, settings, options.lanes, signal),
  };
}
