import type { Signed, Unsigned } from '../driver.ts';
import type { Call } from './calls.ts';
import type { Fees } from './fees.ts';

/** Bytes of transactions (EIP-1559). viem is loaded only where a rail of this family is configured. */
export type Codec = Awaited<ReturnType<typeof loadCodec>>;

type Hex = `0x${string}`;

/** 65 bytes: r, s, and the parity of y as 0 or 1, or 27 or 28. */
function signatureOf(hex: string): { r: Hex; s: Hex; yParity: number } {
  const digits = hex.replace(/^0x/, '');
  if (!/^[0-9a-f]{130}$/i.test(digits)) throw new Error('the signer returned no signature of 65 bytes');
  const v = Number.parseInt(digits.slice(128), 16);
  return {
    r: `0x${digits.slice(0, 64)}`,
    s: `0x${digits.slice(64, 128)}`,
    yParity: v >= 27 ? v - 27 : v,
  };
}

export async function loadCodec(chainId: number) {
  const { keccak256, parseTransaction, recoverTransactionAddress, serializeTransaction } = await import(
    'viem'
  );

  function read(bytes: string) {
    const parsed = parseTransaction(bytes as Hex);
    if (parsed.type !== 'eip1559') throw new Error(`a transaction of type ${parsed.type} is none of ours`);
    return parsed;
  }

  return {
    unsigned(call: Call, nonce: bigint, gas: bigint, { maxFee, tip }: Fees): string {
      return serializeTransaction({
        type: 'eip1559',
        chainId,
        nonce: Number(nonce),
        gas,
        maxFeePerGas: maxFee,
        maxPriorityFeePerGas: tip,
        to: call.to as Hex,
        value: call.value,
        data: call.data as Hex,
      });
    },

    feesOf(bytes: string): Fees {
      const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = read(bytes);
      return { maxFee: maxFeePerGas, tip: maxPriorityFeePerGas };
    },

    /** Fails unless the signature is the lane's own: any other one would be a transaction of another address. */
    async signed({ bytes }: Unsigned, signatures: readonly string[], lane: string): Promise<Signed> {
      const [signature, ...others] = signatures;
      if (signature === undefined || others.length > 0) throw new Error('a transaction needs one signature');
      const serialized = serializeTransaction(read(bytes), signatureOf(signature));
      const from = await recoverTransactionAddress({ serializedTransaction: serialized });
      if (from.toLowerCase() !== lane.toLowerCase())
        throw new Error(`the signature is one of ${from}, not of ${lane}`);
      return { hash: keccak256(serialized), bytes: serialized };
    },
  };
}
