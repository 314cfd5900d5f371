import { LIMITS } from '../../limits.ts';
import { type RefillFile, RefillRefused } from '../../rails/treasury.ts';
import type { LaneState, Plan } from '../driver.ts';
import type { RefillOrder, ToCold, TreasuryDriver } from '../treasury-driver.ts';
import { type Chain, findToken, transfersOf } from './chain.ts';
import { compileMessage, type Lifetime, nonceAddress, transferInstructions } from './message.ts';
import { plan, pricePayments } from './plan.ts';
import { readAccount } from './reads.ts';
import type { Node } from './rpc.ts';
import { readNonceAccount } from './slot.ts';
import { sweep } from './sweep.ts';

/** The lane pays the fees of sweeps, so deposit addresses need no coins. */

async function toCold(
  chain: Chain,
  lane: LaneState,
  { asset, units, address }: ToCold,
  signal: AbortSignal,
): Promise<Plan> {
  const found = await plan(chain, lane, [{ key: '', asset, units, address }], signal);
  // A lane without a nonce account gets one first.
  if (found.kind === 'wait' || found.draft.purpose !== 'PAYMENTS') return found;
  return { kind: 'assign', draft: { ...found.draft, purpose: 'TO_COLD' } };
}

/** People take longer to sign than a blockhash lives: a nonce account of the cold wallet is used if there is one. */
async function lifetimeOf(chain: Chain, node: Node, cold: string, signal: AbortSignal): Promise<Lifetime> {
  const account = await nonceAddress(chain.library, cold, 0);
  const { value } = await readAccount(node, account, 'finalized', signal);
  const nonce = value && readNonceAccount(value.data);
  if (nonce?.authority === cold) return { kind: 'nonce', account, value: nonce.value };
  const params = [{ commitment: 'finalized' }];
  const latest = await node.call<{ value: { blockhash: string } }>('getLatestBlockhash', params, signal);
  return { kind: 'blockhash', blockhash: latest.value.blockhash };
}

async function refillOn(
  chain: Chain,
  node: Node,
  { asset, units, cold, to }: RefillOrder,
  signal: AbortSignal,
): Promise<RefillFile> {
  const { settings, library } = chain;
  const payment = { key: '', asset, units, address: to };
  const [priced] = await pricePayments(chain, node, [payment], signal);
  const places = priced!.creates ? new Set([0]) : new Set<number>();
  const transfers = await transfersOf(
    chain,
    { purpose: 'TO_COLD', lane: cold, payments: [payment], details: {} },
    { creates: places, direct: new Set() },
    signal,
  );
  const lifetime = await lifetimeOf(chain, node, cold, signal);
  const content = {
    lane: cold,
    lifetime,
    computeBudget: LIMITS.solanaComputeUnitsPerPayment,
    price: settings.priority.priceMin,
  };
  const instructions = transfers.flatMap((one) => transferInstructions(library, cold, one));
  return {
    format: 'SOLANA_MESSAGE',
    content: Buffer.from(compileMessage(library, content, instructions)).toString('base64'),
    summary: {
      from: cold,
      to,
      asset,
      units: units.toString(),
      lifetime:
        lifetime.kind === 'nonce'
          ? `nonce account ${lifetime.account}`
          : `blockhash ${lifetime.blockhash}, valid for about a minute`,
    },
  };
}

function refill(chain: Chain, order: RefillOrder, signal: AbortSignal): Promise<RefillFile> {
  const { settings, nodes } = chain;
  if (order.asset !== settings.native && findToken(settings, order.asset) === undefined)
    throw new RefillRefused(`${order.asset} is not configured on ${settings.network}.`);
  return nodes.any((node) => refillOn(chain, node, order, signal), signal);
}

export function solanaTreasury(chain: Chain): TreasuryDriver {
  return {
    sweep: (lane, rows, _to, signal) =>
      sweep(chain, lane, [...new Set(rows.map(({ address }) => address))], signal),
    toCold: (lane, order, signal) => toCold(chain, lane, order, signal),
    refill: (order, signal) => refill(chain, order, signal),
  };
}
