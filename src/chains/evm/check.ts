import type { RailFinding } from '../../rails/kind.ts';
import { balanceData } from './calls.ts';
import { headerOf, type Nodes, type RawHeader } from './nodes.ts';
import type { Rpc } from './rpc.ts';
import type { EvmSettings } from './settings.ts';

/** For `ferry rails check`. */

/** A block is as old as the clock of its producer says: more than that, and one of the two clocks is wrong, or the node is. */
const BLOCK_AGE_MS_MAX = 120_000;

/** The wall clock, because a person compares it with a block. */
const nowMs = (): number => performance.timeOrigin + performance.now();

const fault = (what: string, found: string): RailFinding => ({ what, found, isFault: true });

async function checkNode(rpc: Rpc, settings: EvmSettings, signal: AbortSignal): Promise<RailFinding[]> {
  const what = `node ${rpc.name}`;
  try {
    const [chainId, syncing, latest] = await Promise.all([
      rpc.call<string>('eth_chainId', [], signal).then(Number),
      rpc.call<unknown>('eth_syncing', [], signal),
      rpc.call<RawHeader>('eth_getBlockByNumber', ['latest', false], signal).then(headerOf),
    ]);
    if (chainId !== settings.chainId)
      return [fault(what, `chain id ${chainId}, and ${settings.chainId} is configured`)];
    const ageMs = Math.round(nowMs() - latest.timeMs);
    const isOld = Math.abs(ageMs) > Math.max(BLOCK_AGE_MS_MAX, 10 * settings.blockMs);
    const age = ageMs < 0 ? `${-ageMs} ms ahead of this clock` : `${ageMs} ms old`;
    const found = `chain id ${chainId}, block ${latest.height}, ${age}${syncing === false ? '' : ', still syncing'}`;
    const findings: RailFinding[] = [syncing !== false || isOld ? fault(what, found) : { what, found }];
    if (settings.traces) {
      await rpc.call('debug_traceBlockByHash', [latest.hash, { tracer: 'callTracer' }], signal);
      findings.push({ what, found: 'traces blocks' });
    }
    return findings;
  } catch (error) {
    signal.throwIfAborted();
    return [fault(what, (error as Error).message)];
  }
}

async function checkLane(
  nodes: Nodes,
  settings: EvmSettings,
  lane: string,
  signal: AbortSignal,
): Promise<RailFinding[]> {
  const what = `lane ${lane}`;
  const coins = BigInt(await nodes.ask<string>('eth_getBalance', [lane, 'latest'], signal));
  const nonce = BigInt(await nodes.ask<string>('eth_getTransactionCount', [lane, 'latest'], signal));
  const found = `${coins} units of ${settings.native}, next nonce ${nonce}`;
  const isLow = settings.lowMark !== undefined && coins < settings.lowMark;
  const tokens = settings.tokens.map(async ({ asset, contract }): Promise<RailFinding> => {
    const units = await nodes.ask<string>(
      'eth_call',
      [{ to: contract, data: balanceData(lane) }, 'latest'],
      signal,
    );
    if (units === '0x') return fault(what, `${contract}, configured for ${asset}, is not a token`);
    return { what, found: `${BigInt(units)} units of ${asset}` };
  });
  return [
    isLow ? fault(what, `${found}, below the low mark of ${settings.lowMark}`) : { what, found },
    ...(await Promise.all(tokens)),
  ];
}

export async function checkNodes(
  nodes: Nodes,
  settings: EvmSettings,
  lanes: readonly string[],
  signal: AbortSignal,
): Promise<readonly RailFinding[]> {
  const found = (await Promise.all(nodes.all.map((rpc) => checkNode(rpc, settings, signal)))).flat();
  if (found.every(({ isFault }) => isFault === true)) return found;
  const ofLanes = await Promise.all(lanes.map((lane) => checkLane(nodes, settings, lane, signal)));
  return [...found, ...ofLanes.flat()];
}
