import { formatAmount } from '../../kernel/amount.ts';
import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { Coin, Outgoing } from '../driver.ts';
import type { Chain } from './chain.ts';
import { coinCost, dustLimit, feeAt, type Split, type SplitOrder, split } from './fees.ts';
import { scriptOf } from './script.ts';
import { outpoint } from './transaction.ts';

/** Which coins pay which payments. Pure. */

export type PaymentOutput = {
  readonly payment: Outgoing;
  readonly script: Uint8Array;
  readonly units: bigint;
};

/** All three coins have as many decimals. */
const DECIMALS = 8;

export const amountOf = ({ asset }: Pick<Chain, 'asset'>, units: bigint): string =>
  `${formatAmount(units, DECIMALS)} ${asset}`;

/** Why a payment can never be made, as a clause that follows "the payment"; undefined if it can. */
export function paymentFault(chain: Chain, { address, asset, units }: Outgoing): string | undefined {
  if (asset !== chain.asset) return `is in ${asset}, which ${chain.network} does not have`;
  const script = scriptOf(chain, address);
  if (script === undefined)
    return `goes to ${address}, which is no address of ${chain.network} (${chain.name})`;
  const least = dustLimit(chain, script);
  if (units < least)
    return `is ${amountOf(chain, units)}, nodes of ${chain.network} relay at least ${amountOf(chain, least)} to this address`;
  return undefined;
}

export function outputsOf(chain: Chain, payments: readonly Outgoing[]): PaymentOutput[] {
  return payments.map((payment) => {
    const script = scriptOf(chain, payment.address);
    if (script === undefined)
      throw new Error(`${payment.address} is no address of ${chain.network} (${chain.name})`);
    return { payment, script, units: payment.units };
  });
}

export const sumOf = (coins: readonly { readonly units: bigint }[]): bigint =>
  coins.reduce((sum, { units }) => sum + units, 0n);

/** Largest first. The outpoint makes the order the same everywhere. */
export function byValue(a: Coin, b: Coin): number {
  if (a.units !== b.units) return a.units > b.units ? -1 : 1;
  return outpoint(a) < outpoint(b) ? -1 : 1;
}

export type Funds = {
  readonly chain: Chain;
  /** In the order in which they are taken: confirmed ones first. */
  readonly coins: readonly Coin[];
  readonly rate: bigint;
  /** So much more may the fee become without other coins: the rate up to which a later version can go. */
  readonly roomRate: bigint;
  readonly changeScript: Uint8Array;
  /** Of unconfirmed ancestors, which the new transaction lifts to its own rate. */
  readonly ancestorsFee?: (coins: readonly Coin[], rate: bigint) => bigint;
};

export type Selection = Split & { readonly coins: readonly Coin[] };

/** A coin that is worth no more than it costs to spend makes every transaction poorer. */
export function worthSpending({ chain, coins, rate }: Pick<Funds, 'chain' | 'coins' | 'rate'>): Coin[] {
  const cost = coinCost(chain, rate);
  return coins.filter(({ units }) => units > cost);
}

function orderOf(
  funds: Funds,
  outputs: readonly PaymentOutput[],
  coins: readonly Coin[],
  rate: bigint,
): SplitOrder {
  const { chain, changeScript, ancestorsFee = () => 0n } = funds;
  return {
    chain,
    coins: coins.length,
    inUnits: sumOf(coins),
    payments: outputs,
    changeScript,
    feeFor: (size) => feeAt(rate, size) + ancestorsFee(coins, rate),
  };
}

/** The fewest coins, in their order, that pay the outputs and leave room for a higher fee; without room if there is none. */
export function selectCoins(funds: Funds, outputs: readonly PaymentOutput[]): Selection | undefined {
  const worthy = worthSpending(funds).slice(0, UTXO_LIMITS.coinsMax);
  let smallest: Selection | undefined;
  for (let taken = 1; taken <= worthy.length; taken += 1) {
    const coins = worthy.slice(0, taken);
    const found = split(orderOf(funds, outputs, coins, funds.rate));
    if (found === undefined) continue;
    smallest ??= { ...found, coins };
    if (split(orderOf(funds, outputs, coins, funds.roomRate)) !== undefined) return { ...found, coins };
  }
  return smallest;
}

/** The oldest payments that the coins can pay; one that is too large for now does not hold up those after it. */
export function selectBatch(
  funds: Funds,
  waiting: readonly Outgoing[],
): (Selection & { readonly payments: readonly Outgoing[] }) | undefined {
  const possible = outputsOf(
    funds.chain,
    waiting.filter((payment) => paymentFault(funds.chain, payment) === undefined),
  );
  let outputs = possible.slice(0, UTXO_LIMITS.paymentsMax);
  // Almost always, there is enough for all of them.
  let best = outputs.length === 0 ? undefined : selectCoins(funds, outputs);
  if (best !== undefined) return { ...best, payments: outputs.map(({ payment }) => payment) };
  outputs = [];
  for (const output of possible) {
    if (outputs.length === UTXO_LIMITS.paymentsMax) break;
    const found = selectCoins(funds, [...outputs, output]);
    if (found === undefined) continue;
    best = found;
    outputs = [...outputs, output];
  }
  return best && { ...best, payments: outputs.map(({ payment }) => payment) };
}

/** Many small coins become one while that is cheap: later, at a higher rate, each of them would cost more. */
export function selectConsolidation(funds: Funds): Selection | undefined {
  const others = worthSpending(funds).toSorted(byValue).slice(UTXO_LIMITS.coinsKept);
  const small = others.toReversed().slice(0, UTXO_LIMITS.coinsMax);
  if (small.length < UTXO_LIMITS.consolidationMin) return undefined;
  return selectChangeOnly({ ...funds, coins: small });
}

/** All of the coins, to ourselves. */
export function selectChangeOnly(funds: Funds): Selection | undefined {
  const found = split(orderOf(funds, [], funds.coins, funds.rate));
  return found && { ...found, coins: funds.coins };
}
