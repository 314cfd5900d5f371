import { unavailable } from '../../kernel/problem.ts';
import type { DepositAccount } from '../deposit-account.ts';

/**
 * Deposit addresses. Solana's keys (Ed25519) have no public derivation, so an address cannot be made from an xpub: the signer has a
 * list of them. It derives each key from its seed and the number, so the same number always gives the same address, and a restored
 * signer has all keys. The first address stands for the whole list: a signer with another seed is refused.
 */

/** How long customers wait before they ask again: an operator has to make the list longer. */
const RETRY_SECONDS = 300;

export function depositPool(network: string, deposits: readonly string[]): DepositAccount | undefined {
  const [first] = deposits;
  if (first === undefined) return undefined;
  const pool = deposits.map((address, number) => ({ address, path: String(number) }));
  return {
    xpub: first,
    pool,
    derive(number) {
      const found = pool[Number(number)];
      if (found !== undefined) return found;
      throw unavailable(
        `All ${pool.length} deposit addresses of ${network} are in use, and the operator has to add more. Nothing was created; retry with the same ref_id.`,
        RETRY_SECONDS,
      );
    },
  };
}
