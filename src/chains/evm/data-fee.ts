import type { Call } from './calls.ts';
import type { Nodes } from './nodes.ts';
import { RpcRefusal } from './rpc.ts';

/** What an OP-stack network (BASE, INK) takes beside gas: for the data on the chain below, and for its operator. */

const word = (digits: string): string => digits.padStart(64, '0');

/** getL1Fee(bytes) */
function dataFeeCall(bytes: string): string {
  const digits = bytes.slice(2);
  return [
    '0x49948e0e',
    word('20'),
    word((digits.length / 2).toString(16)),
    digits.padEnd(Math.ceil(digits.length / 64) * 64, '0'),
  ].join('');
}

/** getOperatorFee(uint256) */
const operatorFeeCall = (gas: bigint): string => `0x275aedd2${word(gas.toString(16))}`;

/** Doubled, because the price of data changes. 0 without an oracle. */
export async function dataFee(
  nodes: Nodes,
  oracle: string | undefined,
  bytes: string,
  gas: bigint,
  signal: AbortSignal,
): Promise<bigint> {
  if (oracle === undefined) return 0n;
  const ask = async (data: string): Promise<bigint> =>
    BigInt(await nodes.ask<string>('eth_call', [{ to: oracle, data }, 'latest'], signal));
  // Networks before the Isthmus upgrade have no such fee, and their contract no such function.
  const ofOperator = await ask(operatorFeeCall(gas)).catch((error: unknown) => {
    if (error instanceof RpcRefusal || error instanceof SyntaxError) return 0n;
    throw error;
  });
  return 2n * (await ask(dataFeeCall(bytes))) + ofOperator;
}

/** Nonce, fees, addresses and signature, none of which can be compressed. */
const ENVELOPE_BYTES = 180;

/** Bytes about as long as those of the transaction, for an estimate before it exists. */
export const bytesLike = ({ data }: Pick<Call, 'data'>): string =>
  `0x${'ff'.repeat(ENVELOPE_BYTES)}${data.slice(2)}`;
