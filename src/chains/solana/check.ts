import { LIMITS } from '../../limits.ts';
import type { RailFinding } from '../../rails/kind.ts';
import type { Chain } from './chain.ts';
import { reasonOf } from './nodes.ts';
import { readAccounts, readSlot } from './reads.ts';
import type { Node } from './rpc.ts';

/** `ferry rails check`: what each node, each token and each lane looks like. Changes nothing. */

/** The clock of this machine, to compare it with that of the chain. */
const clockMs = (): number => performance.timeOrigin + performance.now();

type NodeState = { readonly node: Node; readonly findings: readonly RailFinding[]; readonly height?: number };

async function clockFinding(node: Node, height: number, signal: AbortSignal): Promise<RailFinding> {
  const seconds = await node.call<number | null>('getBlockTime', [height], signal);
  const what = `clock beside ${node.name}`;
  if (seconds === null) return { what, found: 'the node does not know the time of its newest block' };
  const aheadMs = Math.round(clockMs() - seconds * 1_000);
  const found = `this machine is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} the newest final block`;
  return { what, found, ...(Math.abs(aheadMs) > LIMITS.solanaClockSkewMaxMs && { isFault: true }) };
}

async function checkNode({ settings }: Chain, node: Node, signal: AbortSignal): Promise<NodeState> {
  const what = `node ${node.name}`;
  try {
    const genesis = await node.call<string>('getGenesisHash', [], signal);
    if (genesis !== settings.genesisHash) {
      const found = `is on another cluster: genesis hash ${genesis}, configured ${settings.genesisHash}`;
      return { node, findings: [{ what, found, isFault: true }] };
    }
    const version = await node.call<Record<string, string>>('getVersion', [], signal);
    const height = await readSlot(node, 'finalized', signal);
    const health = await node.call<string>('getHealth', [], signal).catch(reasonOf);
    const found = `version ${version['solana-core'] ?? 'unknown'}, final slot ${height}, health ${health}`;
    const clock = await clockFinding(node, height, signal);
    return { node, height, findings: [{ what, found, ...(health !== 'ok' && { isFault: true }) }, clock] };
  } catch (error) {
    return { node, findings: [{ what, found: `cannot be used: ${reasonOf(error)}`, isFault: true }] };
  }
}

function behind(states: readonly NodeState[]): RailFinding[] {
  const newest = Math.max(...states.map(({ height }) => height ?? 0));
  return states.flatMap(({ node, height }) =>
    height === undefined || newest - height <= LIMITS.solanaBehindSlotsMax
      ? []
      : [
          {
            what: `node ${node.name}`,
            found: `is ${newest - height} slots behind the others`,
            isFault: true as const,
          },
        ],
  );
}

function checkTokens({ settings, mints }: Chain, signal: AbortSignal): Promise<RailFinding[]> {
  return Promise.all(
    settings.tokens.map(async ({ asset, mint, decimals }): Promise<RailFinding> => {
      const what = `token ${asset}`;
      try {
        const found = await mints.get(mint, signal);
        const other =
          found.decimals !== decimals && `has ${found.decimals} decimals, configured are ${decimals}`;
        const fault = other || (found.fault !== undefined && `cannot be paid: ${found.fault}`);
        if (fault) return { what, found: fault, isFault: true };
        const fee = found.takesFee ? '; recipients get less, since it takes a fee on transfers' : '';
        return { what, found: `mint ${mint}, program ${found.program}${fee}` };
      } catch (error) {
        return { what, found: reasonOf(error), isFault: true };
      }
    }),
  );
}

async function checkLanes({ settings, nodes }: Chain, signal: AbortSignal): Promise<RailFinding[]> {
  try {
    const { value } = await nodes.any(
      (node) => readAccounts(node, settings.lanes, 'finalized', signal),
      signal,
    );
    return settings.lanes.map((lane, place) => {
      const lamports = value[place]?.lamports ?? 0n;
      const what = `wallet ${lane}`;
      if (settings.lowMark === undefined || lamports >= settings.lowMark)
        return { what, found: `${lamports} lamports` };
      return { what, found: `${lamports} lamports, the low mark is ${settings.lowMark}`, isFault: true };
    });
  } catch (error) {
    return [{ what: 'wallet', found: `cannot be read: ${reasonOf(error)}`, isFault: true }];
  }
}

export async function check(chain: Chain, signal: AbortSignal): Promise<readonly RailFinding[]> {
  const states = await Promise.all(chain.nodes.list.map((node) => checkNode(chain, node, signal)));
  const usable = states.filter(({ height }) => height !== undefined).length;
  const { nodesAgreeing } = chain.settings;
  const few: RailFinding[] =
    usable >= nodesAgreeing
      ? []
      : [
          {
            what: 'nodes',
            found: `${usable} can be used, ${nodesAgreeing} must agree on an outcome`,
            isFault: true,
          },
        ];
  return [
    ...states.flatMap(({ findings }) => findings),
    ...behind(states),
    ...few,
    ...(await checkTokens(chain, signal)),
    ...(await checkLanes(chain, signal)),
  ];
}
