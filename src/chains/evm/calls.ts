import { EVM_ADDRESSES } from '../../networks/evm.ts';
import type { Assignment, Outgoing } from '../driver.ts';
import type { EvmSettings } from './settings.ts';

/** What transactions do, and what their receipts say about it. */

export type Call = { readonly to: string; readonly value: bigint; readonly data: string };

export const canonical = EVM_ADDRESSES.canonical;

const word = (hex: string): string => hex.padStart(64, '0');
/** `transfer(address,uint256)` of ERC-20. */
export const transferData = (to: string, units: bigint): string =>
  `0xa9059cbb${word(to.slice(2).toLowerCase())}${word(units.toString(16))}`;
/** `balanceOf(address)` of ERC-20. */
export const balanceData = (owner: string): string => `0x70a08231${word(owner.slice(2).toLowerCase())}`;

export function contractOf({ tokens, native }: EvmSettings, asset: string): string | undefined {
  if (asset === native) return undefined;
  const token = tokens.find((one) => one.asset === asset);
  if (token === undefined) throw new Error(`${asset} has no contract on this network`);
  return token.contract;
}

export function callFor({ address, units }: Outgoing, contract: string | undefined): Call {
  return contract === undefined
    ? { to: address, value: units, data: '0x' }
    : { to: contract, value: 0n, data: transferData(address, units) };
}

/** The same for every version: the contract is that of the assignment, even if the configuration has changed since. */
export function callOf({ purpose, payments, lane, details }: Assignment): Call {
  if (purpose === 'CANCELLATION') return { to: lane, value: 0n, data: '0x' };
  const [payment] = payments;
  if (payment === undefined || payments.length > 1)
    throw new Error(`a transaction of an EVM network makes one payment, not ${payments.length}`);
  return callFor(payment, details.contract);
}

export type Log = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly removed?: boolean;
};

export type Receipt = {
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly transactionIndex: string;
  readonly status?: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice?: string;
  /** Of networks that publish their data on another chain (OP stack). Arbitrum counts it as gas. */
  readonly l1Fee?: string | null;
  /** What the operator of an OP-stack network takes for each gas, and for each transaction. */
  readonly operatorFeeScalar?: string | null;
  readonly operatorFeeConstant?: string | null;
  /** Since the Jovian upgrade, which has changed the unit of the scalar. */
  readonly daFootprintGasScalar?: string | null;
  readonly logs: readonly Log[];
};

/** `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export type Moved = {
  readonly contract: string;
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
  /** The place of the log within its transaction. */
  readonly place: number;
};

/** Transfers of ERC-20 tokens. Those of ERC-721, which have the same name, number their token in a fourth topic. */
export function movedIn({ logs }: Pick<Receipt, 'logs'>): Moved[] {
  return logs.flatMap(({ address, topics, data }, place) => {
    if (topics[0] !== TRANSFER || topics.length !== 3 || !/^0x[0-9a-f]{64}$/i.test(data)) return [];
    const [from, to] = [topics[1]!, topics[2]!].map((topic) => `0x${topic.slice(-40)}`.toLowerCase());
    return [{ contract: address.toLowerCase(), from: from!, to: to!, units: BigInt(data), place }];
  });
}

const quantityOf = (hex: string | null | undefined): bigint => BigInt(hex ?? '0x0');

function operatorFeeOf(receipt: Receipt): bigint {
  const scaled = BigInt(receipt.gasUsed) * quantityOf(receipt.operatorFeeScalar);
  const isJovian = receipt.daFootprintGasScalar !== undefined && receipt.daFootprintGasScalar !== null;
  return (isJovian ? scaled * 100n : scaled / 1_000_000n) + quantityOf(receipt.operatorFeeConstant);
}

/** Everything that the sender has paid to the network. */
export const feeOf = (receipt: Receipt): bigint =>
  BigInt(receipt.gasUsed) * quantityOf(receipt.effectiveGasPrice) +
  quantityOf(receipt.l1Fee) +
  operatorFeeOf(receipt);

export type Effect =
  | { readonly kind: 'paid' }
  | { readonly kind: 'not-paid'; readonly reason: string }
  /** Something moved, but not what was to be paid: only a person can say what that means. */
  | { readonly kind: 'strange'; readonly reason: string };

/**
 * Whether the wallet paid. A token may return false instead of reverting: then there is no log, and nothing was paid. A token
 * that takes a fee may split the amount into several transfers: paid is what left the wallet.
 */
export function effectOf(assignment: Assignment, receipt: Receipt): Effect {
  if (receipt.status === '0x0')
    return { kind: 'not-paid', reason: 'The network executed the transaction, and it reverted.' };
  const { contract } = assignment.details;
  const [payment] = assignment.payments;
  if (contract === undefined || payment === undefined) return { kind: 'paid' };
  const lane = assignment.lane.toLowerCase();
  const left = movedIn(receipt)
    .filter((one) => one.contract === contract.toLowerCase() && one.from === lane && one.to !== lane)
    .reduce((sum, { units }) => sum + units, 0n);
  if (left === payment.units) return { kind: 'paid' };
  if (left === 0n) return { kind: 'not-paid', reason: 'The token refused the transfer.' };
  return {
    kind: 'strange',
    reason: `the token moved ${left} units out of the wallet instead of ${payment.units}`,
  };
}
