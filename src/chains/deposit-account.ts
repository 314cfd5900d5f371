import type { Derived } from './address-store.ts';

/** Where deposit addresses come from. */
export type DepositAccount = {
  /** What they are derived from. Another one than before is refused. */
  readonly xpub: string;
  derive(number: bigint): Derived | Promise<Derived>;
  /** All of them, if the signer has a list instead of hierarchical keys. */
  readonly pool?: readonly Derived[];
};
