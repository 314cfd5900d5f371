import { Transaction as Psbt } from '@scure/btc-signer';
import { type RefillFile, RefillRefused } from '../../rails/treasury.ts';
import type { LaneState, Plan } from '../driver.ts';
import type { RefillOrder, ToCold, TreasuryDriver } from '../treasury-driver.ts';
import type { Chain } from './chain.ts';
import { smaller } from './fees.ts';
import { type Planner, plan } from './plan.ts';
import { PSBT_OPTIONS } from './psbt.ts';
import { addressOf, scriptOf } from './script.ts';
import { byValue, paymentFault, selectBatch, sumOf } from './select.ts';
import type { UtxoSettings } from './settings.ts';

/**
 * Deposits need no sweep here: they are coins of the wallet, and small ones are joined while fees are low. What goes to the cold
 * wallet is a payment like any other.
 */

/** The cold address in the form of the chain. */
export function coldOf(chain: Chain, { coldAddress }: Pick<UtxoSettings, 'coldAddress'>): string | undefined {
  const script = coldAddress === undefined ? undefined : scriptOf(chain, coldAddress);
  return script && addressOf(chain, script);
}

async function toCold(
  planner: Planner,
  lane: LaneState,
  { asset, units, address }: ToCold,
  signal: AbortSignal,
): Promise<Plan> {
  const found = await plan(planner, lane, [{ key: '', asset, units, address }], signal);
  return found.kind === 'wait' ? found : { kind: 'assign', draft: { ...found.draft, purpose: 'TO_COLD' } };
}

/** A script of several keys needs more signatures than the estimate has: the fee is that of a larger transaction. */
const SCRIPT_FACTOR = 3n;
const KEY_SCRIPT_BYTES_MAX = 25;

async function refill(planner: Planner, order: RefillOrder, signal: AbortSignal): Promise<RefillFile> {
  const { chain, nodes, settings } = planner;
  const { asset, units, cold, to, coins } = order;
  const payment = { key: '', asset, units, address: to };
  const fault = paymentFault(chain, payment);
  if (fault !== undefined) throw new RefillRefused(`The payment ${fault}.`);
  const coldScript = scriptOf(chain, cold)!;
  const now = await planner.estimate(await nodes.view(signal), signal);
  const wanted = coldScript.length > KEY_SCRIPT_BYTES_MAX ? now * SCRIPT_FACTOR : now;
  const rate = smaller(wanted, settings.fees.maxRate);
  const funds = { chain, coins: coins.toSorted(byValue), rate, roomRate: rate, changeScript: coldScript };
  const found = selectBatch(funds, [payment]);
  if (found === undefined)
    throw new RefillRefused(
      `The coins that the cold wallet was seen to have are ${sumOf(coins)} units of ${asset}: not enough for ${units} and the fee.`,
    );
  const psbt = new Psbt(PSBT_OPTIONS);
  for (const { txHash, output, units: amount } of found.coins)
    psbt.addInput({ txid: txHash, index: output, witnessUtxo: { script: coldScript, amount } });
  psbt.addOutput({ script: scriptOf(chain, to)!, amount: units });
  if (found.changeUnits > 0n) psbt.addOutput({ script: coldScript, amount: found.changeUnits });
  return {
    format: 'PSBT',
    content: Buffer.from(psbt.toPSBT(0)).toString('base64'),
    summary: {
      from: cold,
      to,
      units: units.toString(),
      change_units: found.changeUnits.toString(),
      fee_units: found.feeUnits.toString(),
      inputs: String(found.coins.length),
    },
  };
}

export function utxoTreasury(planner: Planner): TreasuryDriver {
  return {
    toCold: (lane, order, signal) => toCold(planner, lane, order, signal),
    refill: (order, signal) => refill(planner, order, signal),
  };
}
