import { type Block, type BlockId, ChainWait, type Received } from '../driver.ts';
import type { RefillSeen } from '../treasury-driver.ts';
import { canonical, feeOf, movedIn, type Receipt } from './calls.ts';
import { headerOf, type Nodes, quantity, type RawHeader } from './nodes.ts';
import type { Rpc } from './rpc.ts';
import type { EvmSettings } from './settings.ts';

/** What a block pays to our addresses. */

type RawTransaction = {
  readonly hash: string;
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
};
type RawBlock = RawHeader & { readonly transactions: readonly RawTransaction[] };

/** A call as `callTracer` reports it. */
type Trace = {
  readonly type: string;
  readonly to?: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly Trace[];
};
type TraceOfTransaction = { readonly txHash?: string; readonly result?: Trace };

type IsOurs = (address: string) => boolean;
type Coins = { readonly txHash: string; readonly address: string; units: bigint };

/** The value of these calls comes from another address; DELEGATECALL and CALLCODE repeat that of the caller. */
const PAYING = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/** A call that failed has moved nothing, and neither have those inside of it. */
function paidIn(trace: Trace, found: (address: string, units: bigint) => void): void {
  if (trace.error !== undefined) return;
  const units = BigInt(trace.value ?? '0x0');
  if (units > 0n && trace.to !== undefined && PAYING.has(trace.type)) found(trace.to, units);
  for (const inner of trace.calls ?? []) paidIn(inner, found);
}

/** Coins by transaction and address: all that one transaction pays to an address is one deposit. */
function createSums(isOurs: IsOurs) {
  const sums = new Map<string, Coins>();
  return {
    add(txHash: string, to: string, units: bigint): void {
      const address = canonical(to);
      if (units === 0n || !isOurs(address)) return;
      const key = `${txHash} ${address}`;
      const sum = sums.get(key) ?? { txHash, address, units: 0n };
      sum.units += units;
      sums.set(key, sum);
    },
    all: (): readonly Coins[] => [...sums.values()],
  };
}

async function coinsIn(
  rpc: Rpc,
  block: RawBlock,
  receipts: readonly Receipt[],
  traces: boolean,
  isOurs: IsOurs,
  signal: AbortSignal,
): Promise<readonly Coins[]> {
  const sums = createSums(isOurs);
  if (!traces) {
    const failed = new Set(
      receipts.filter(({ status }) => status === '0x0').map(({ transactionHash }) => transactionHash),
    );
    for (const { hash, to, value } of block.transactions)
      if (to !== null && !failed.has(hash)) sums.add(hash, to, BigInt(value));
    return sums.all();
  }
  if (block.transactions.length === 0) return [];
  const traced = await rpc.call<readonly TraceOfTransaction[]>(
    'debug_traceBlockByHash',
    [block.hash, { tracer: 'callTracer' }],
    signal,
  );
  if (traced.length !== block.transactions.length)
    throw new Error(
      `${rpc.name} traced ${traced.length} of ${block.transactions.length} transactions of ${block.hash}`,
    );
  for (const [index, { result }] of traced.entries()) {
    if (result === undefined) throw new Error(`${rpc.name} could not trace a transaction of ${block.hash}`);
    const { hash } = block.transactions[index]!;
    paidIn(result, (address, units) => sums.add(hash, address, units));
  }
  return sums.all();
}

function tokensIn(receipts: readonly Receipt[], settings: EvmSettings, isOurs: IsOurs): Received[] {
  const codes = new Map(settings.tokens.map(({ asset, contract }) => [contract.toLowerCase(), asset]));
  return receipts.flatMap((receipt) =>
    movedIn(receipt).flatMap(({ contract, to, units, place }) => {
      const address = canonical(to);
      if (units === 0n || !isOurs(address)) return [];
      const asset = codes.get(contract) ?? canonical(contract);
      return [{ txHash: receipt.transactionHash, output: place, address, asset, units }];
    }),
  );
}

/** What the cold wallet pays to the lanes. The sender of a transaction pays its fee. */
function refillsIn(
  { transactions }: RawBlock,
  receipts: readonly Receipt[],
  { coldAddress, native, tokens }: EvmSettings,
  lanes: readonly string[],
): RefillSeen[] {
  if (coldAddress === undefined) return [];
  const cold = coldAddress.toLowerCase();
  const hot = new Set(lanes.map((lane) => lane.toLowerCase()));
  const codes = new Map(tokens.map(({ asset, contract }) => [contract.toLowerCase(), asset]));
  return transactions.flatMap(({ hash: txHash, from, to, value }, index) => {
    const receipt = receipts[index]!;
    const isFromCold = from.toLowerCase() === cold;
    const units = BigInt(value);
    const isCoin = isFromCold && receipt.status !== '0x0' && units > 0n && hot.has(to?.toLowerCase() ?? '');
    const tokensMoved = movedIn(receipt).filter(
      (one) => one.from === cold && hot.has(one.to) && one.units > 0n && codes.has(one.contract),
    );
    const found = [
      ...(isCoin ? [{ place: 'coin', asset: native, units }] : []),
      ...tokensMoved.map((one) => ({
        place: String(one.place),
        asset: codes.get(one.contract)!,
        units: one.units,
      })),
    ];
    return found.map((one, place) => ({
      txHash,
      ...one,
      fee: { units: isFromCold && place === 0 ? feeOf(receipt) : 0n },
    }));
  });
}

/** Undefined if the node does not have that block. */
async function readBlock(
  rpc: Rpc,
  which: { readonly height: number } | { readonly hash: string },
  settings: EvmSettings,
  isOurs: IsOurs,
  signal: AbortSignal,
  lanes: readonly string[] = [],
): Promise<Block | undefined> {
  const raw = await ('hash' in which
    ? rpc.call<RawBlock | null>('eth_getBlockByHash', [which.hash, true], signal)
    : rpc.call<RawBlock | null>('eth_getBlockByNumber', [quantity(which.height), true], signal));
  if (raw === null) return undefined;
  const receipts =
    raw.transactions.length === 0
      ? []
      : await rpc.call<readonly Receipt[] | null>('eth_getBlockReceipts', [raw.hash], signal);
  // By hash: the receipts of another block with that height would be those of another chain.
  if (
    receipts === null ||
    receipts.length !== raw.transactions.length ||
    receipts.some(({ blockHash }) => blockHash !== raw.hash)
  )
    return undefined;
  const coins = await coinsIn(rpc, raw, receipts, settings.traces, isOurs, signal);
  const { height, hash, parentHash, timeMs } = headerOf(raw);
  return {
    height,
    hash,
    parentHash,
    timeMs,
    spent: [],
    refills: refillsIn(raw, receipts, settings, lanes),
    received: [
      ...coins.map((one): Received => ({ ...one, output: null, asset: settings.native })),
      ...tokensIn(receipts, settings, isOurs),
    ],
  };
}

const textOf = ({ txHash, output, address, asset, units }: Received): string =>
  [txHash.toLowerCase(), output, address, asset, `${units}`].join();

/** A block may have more for the same addresses: what the service itself has sent there. */
function isShownIn(block: Block | undefined, received: readonly Received[]): boolean {
  const shown = new Set((block?.received ?? []).map(textOf));
  return block !== undefined && received.every((one) => shown.has(textOf(one)));
}

/** Nodes that a block is read from, if as many answer: one of them may hide what it pays. */
const READERS_MIN = 2;

/** From the first node that has the block. Others must report the same: nobody would miss a deposit that is not reported. */
export async function blockAt(
  nodes: Nodes,
  settings: EvmSettings,
  height: number,
  isOurs: IsOurs,
  signal: AbortSignal,
  lanes: readonly string[] = [],
): Promise<Block> {
  const views = (await nodes.views(signal)).filter(({ head }) => head.height >= height);
  const readers = Math.max(READERS_MIN, settings.nodesAgreeing);
  let found: Block | undefined;
  let agreeing = 0;
  let last: unknown = new ChainWait('node-behind', `no node has block ${height} of the best chain`);
  for (const { rpc } of views) {
    if (agreeing === readers) break;
    try {
      const which = found === undefined ? { height } : { hash: found.hash };
      const block = await readBlock(rpc, which, settings, isOurs, signal, lanes);
      if (block === undefined) continue;
      if (found !== undefined && !(isShownIn(block, found.received) && isShownIn(found, block.received)))
        throw new ChainWait(
          'nodes-disagree',
          `${rpc.name} disagrees about what block ${height} (${found.hash}) pays to us`,
        );
      found ??= block;
      agreeing += 1;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChainWait) throw error;
      last = error;
    }
  }
  if (found === undefined) throw last;
  if (agreeing < settings.nodesAgreeing)
    throw new ChainWait(
      'node-behind',
      `${agreeing} of ${settings.nodesAgreeing} nodes have block ${height} (${found.hash})`,
    );
  return found;
}

/** Reads the block again, from every node that has it as final: a node that invents logs must not credit anybody. */
export async function confirmBlock(
  nodes: Nodes,
  settings: EvmSettings,
  { height, hash }: BlockId,
  received: readonly Received[],
  signal: AbortSignal,
): Promise<void> {
  const addresses = new Set(received.map(({ address }) => address));
  const isOurs = (address: string): boolean => addresses.has(address);
  const views = (await nodes.views(signal)).filter(({ finalHeight }) => finalHeight >= height);
  const read = await Promise.allSettled(
    views.map(({ rpc }) => readBlock(rpc, { hash }, settings, isOurs, signal)),
  );
  let agreeing = 0;
  for (const [index, one] of read.entries()) {
    if (one.status === 'rejected') continue;
    if (!isShownIn(one.value, received))
      throw new ChainWait(
        'nodes-disagree',
        `${views[index]!.rpc.name} disagrees about what block ${height} (${hash}) pays to us`,
      );
    agreeing += 1;
  }
  if (agreeing < settings.nodesAgreeing)
    throw new ChainWait(
      'nodes-disagree',
      `${agreeing} of ${settings.nodesAgreeing} nodes confirm block ${height} (${hash})`,
    );
}
