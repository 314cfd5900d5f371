import {
  encodeFunctionData,
  erc20Abi,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem';

/** Unsigned transactions as the driver builds them, made with viem. */

export const LANE = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
export const SECOND_LANE = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';
export const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

type Hex = `0x${string}`;
type Changes = Partial<TransactionSerializableEIP1559>;

export function coinBytes(to: string, units: bigint, nonce: number, changes: Changes = {}): string {
  return serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    nonce,
    gas: 21_000n,
    maxFeePerGas: 30_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    to: to as Hex,
    value: units,
    ...changes,
  });
}

export function tokenBytes(
  contract: string,
  to: string,
  units: bigint,
  nonce: number,
  changes: Changes = {},
): string {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] });
  return coinBytes(contract, 0n, nonce, { gas: 60_000n, data, ...changes });
}
