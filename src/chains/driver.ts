import type { CryptoNetwork } from '../networks/crypto.ts';
import type { RailFinding } from '../rails/kind.ts';
import type { TogetherOnChain } from '../rails/payment-store.ts';
import type { RefillSeen, TreasuryDriver } from './treasury-driver.ts';

/**
 * What a family of chains (EVM, UTXO, Solana) provides. A driver knows formats and talks to nodes. It has no database and no
 * keys: what it must remember is passed to it, and what must be remembered is returned by it. Everything that decides whether
 * a payment is made once is outside of it, in the keeper, and is the same for all families:
 *
 *   accepted ──plan──> assigned ──build, sign──> signed ──broadcast──> mined ──> final
 *                      (committed)              (committed)    ^ │
 *                                                              └─┘ another version with a higher fee, of the same assignment
 *
 * - An assignment names its payments and what only one transaction can ever use: a nonce, coins, or the value of a durable
 *   nonce. It is committed before anything is signed. A payment has one assignment until the chain has proven that the
 *   assignment can never be executed.
 * - Every version of an assignment uses the same nonce, coins or durable nonce. So at most one of them is ever executed.
 * - Only committed bytes are broadcast, as often as needed. What a node answers to that decides nothing: the chain does.
 */
export type Driver = {
  readonly network: CryptoNetwork;

  /** Whether `plan` has work without payments, such as to join small coins: it is then called from time to time without any. */
  readonly hasUpkeep?: boolean;

  /** Why the network can never make the payment, for customers; undefined if it can. */
  fault?(payment: Outgoing, signal: AbortSignal): string | undefined | Promise<string | undefined>;

  /** The next assignment for waiting payments, oldest first; undefined if none is possible now (`reason` for operators). */
  plan(lane: LaneState, waiting: readonly Outgoing[], signal: AbortSignal): Promise<Plan>;

  /**
   * The bytes to sign, with a fee for now. For a later version, a fee that nodes accept as its replacement; undefined if the
   * last version is good enough, or the bound on fees is reached.
   */
  build(
    assignment: Assignment,
    versions: readonly Version[],
    signal: AbortSignal,
  ): Promise<Unsigned | undefined>;

  /** Joins the signatures with the bytes. Pure. Fails if they are not those of the lane. */
  complete(unsigned: Unsigned, signatures: readonly string[], lane: string): Signed | Promise<Signed>;

  /** Resolves if the node has the transaction now or had it before. A rejection decides nothing. */
  broadcast(version: Version, signal: AbortSignal): Promise<void>;

  /** What the chain says about the assignment, by the policy for confirmations. Nodes that disagree are a reason to wait. */
  observe(assignment: Assignment, versions: readonly Version[], signal: AbortSignal): Promise<Observation>;

  /** The newest block. */
  head(signal: AbortSignal): Promise<BlockId>;

  /** `block` returns only blocks that are final: none of them is ever replaced. */
  readonly readsOnlyFinal?: true;

  /** A block of the best chain, with everything in it that pays one of our addresses, or that was sent from one. */
  block(height: number, isOurs: (address: string) => boolean, signal: AbortSignal): Promise<Block>;

  /**
   * The last block that is final by the policy for confirmations. Throws ChainWait if nodes disagree about it. Absent: the head
   * and the depth that the network's record names.
   */
  final?(signal: AbortSignal): Promise<BlockId>;

  /** Before deposits of a final block are reported. Throws ChainWait unless enough nodes report the same. */
  confirm?(block: BlockId, received: readonly Received[], signal: AbortSignal): Promise<void>;

  /** Everything that the addresses hold, by asset; where the family can look back, at that block. */
  holdings(
    addresses: readonly string[],
    signal: AbortSignal,
    at?: BlockId,
  ): Promise<ReadonlyMap<string, bigint>>;

  /** Moves between our own wallets. */
  readonly treasury?: TreasuryDriver;

  /** What one payment of that asset costs now, in units of the native coin. */
  quote(asset: string, signal: AbortSignal): Promise<bigint | undefined>;

  /** For `ferry rails check`: chain, height, sync, clock, balance of the wallet. */
  check(signal: AbortSignal): Promise<readonly RailFinding[]>;
};

/** A payment that waits for an assignment. */
export type Outgoing = {
  /** The transfer's id. */
  readonly key: string;
  readonly asset: string;
  readonly units: bigint;
  readonly address: string;
};

/** What the keeper remembers about a sending address or wallet. */
export type LaneState = {
  readonly lane: string;
  /** Its assignments that are not final, oldest first. */
  readonly open: readonly Assignment[];
  /** The slot after the last one that was ever assigned; undefined if none was. */
  readonly nextSlot: bigint | undefined;
  /** UTXO: the coins that no assignment uses: those that the scanner has found, and the change of signed versions. */
  readonly coins: readonly Coin[];
  /** UTXO: the last block that was scanned. What was spent up to there is not among the coins. */
  readonly scanned?: BlockId | undefined;
};

export type Plan =
  | { readonly kind: 'assign'; readonly draft: Draft }
  /** Nothing can be sent now. Operators see the reason. */
  | { readonly kind: 'wait'; readonly reason: string; readonly code: WaitCode };

export type WaitCode =
  | 'busy'
  | 'low-funds'
  | 'fee-too-high'
  | 'node-behind'
  | 'nodes-disagree'
  | 'foreign-slot'
  /** A party to one of its payments is frozen. */
  | 'frozen'
  /** No node answers. */
  | 'unreachable';

/** Thrown where only an operator or time can help, with what operators see. */
export class ChainWait extends Error {
  readonly code: WaitCode;
  constructor(code: WaitCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type Purpose =
  | 'PAYMENTS'
  /** Uses up the slot of an assignment whose payments must not be made. */
  | 'CANCELLATION'
  /** From deposit addresses to the hot wallet. */
  | 'SWEEP'
  /** From the hot wallet to the cold one. */
  | 'TO_COLD'
  /** Many small coins to one, or a nonce account: pays nobody. */
  | 'UPKEEP';

export type Draft = {
  readonly purpose: Purpose;
  /** EVM: the nonce. Solana: the number of the durable nonce account and its value. UTXO: null, the coins are unique. */
  readonly slot: string | null;
  readonly coins: readonly Coin[];
  /**
   * In the order of the transaction's outputs or instructions. Of purposes that pay no withdrawal: what is moved to another wallet
   * of the operator, with an empty key.
   */
  readonly payments: readonly Outgoing[];
  /** What a driver needs again for every version, such as the address for the change. JSON. */
  readonly details: Readonly<Record<string, string>>;
};

export type Assignment = Draft & {
  readonly id: string;
  readonly lane: string;
  readonly assignedAtMs: number;
};

/** An output that one of our keys can spend. */
export type Coin = {
  readonly txHash: string;
  readonly output: number;
  readonly units: bigint;
  readonly address: string;
  /** Path of its key below the account, such as `0/17`. */
  readonly path: string;
  /** Null while it is in no block. */
  readonly height: number | null;
};

/** Bytes that a signer can decode and check by itself, in the family's own format for transactions without signatures. */
export type Unsigned = {
  /** Hex. */
  readonly bytes: string;
  /** The most that this version can cost, in units of the native coin. */
  readonly feeUnitsMax: bigint;
  /** How its fee compares with that of other versions of the assignment: wei per gas, or satoshi per 1,000 bytes. */
  readonly feeRate: bigint;
};

export type Signed = {
  readonly hash: string;
  /** Hex, as nodes accept it. */
  readonly bytes: string;
  /** UTXO: what it pays back to the wallet. Later assignments may spend it before it is in a block. */
  readonly change?: Coin;
};

export type Version = Omit<Signed, 'change'> &
  Omit<Unsigned, 'bytes'> & { readonly number: number; readonly signedAtMs: number };

export type Observation =
  /** In no block. */
  | { readonly kind: 'unseen' }
  | ({ readonly kind: 'mined'; readonly have: number; readonly need: number } & TogetherOnChain)
  | ({
      readonly kind: 'final';
      readonly succeeded: boolean;
      /** What the network was paid, in units of the native coin. */
      readonly feeUnits: bigint;
      /** Of a transaction that failed, for customers. */
      readonly reason?: string;
      /** Of its block. */
      readonly height: number;
    } & TogetherOnChain)
  /** At finality, something else has used the slot or a coin: the assignment can never be executed. */
  | { readonly kind: 'superseded'; readonly by: string | undefined }
  | { readonly kind: 'undecided'; readonly reason: string };

export type BlockId = { readonly height: number; readonly hash: string };

export type Block = BlockId & {
  readonly parentHash: string;
  readonly timeMs: number;
  readonly received: readonly Received[];
  /** UTXO: outpoints of the wallet that it spends, as `txHash:output`. */
  readonly spent: readonly string[];
  /** What the cold wallet has paid to the hot one. */
  readonly refills?: readonly RefillSeen[];
};

/** Something that one of our addresses received. */
export type Received = {
  readonly txHash: string;
  /** As in `ArrivedDeposit`. */
  readonly output: number | null;
  readonly address: string;
  /** The code of a configured asset; otherwise the contract or mint, which goes to suspense. */
  readonly asset: string;
  readonly units: bigint;
};

/** What a driver throws is a reason to wait, whatever it is: its nodes did not answer as they should. */
export async function reached<Value>(call: Promise<Value>, signal: AbortSignal): Promise<Value> {
  try {
    return await call;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ChainWait ? error : new ChainWait('unreachable', (error as Error).message);
  }
}
