import type { Instruction, Nonce } from '@solana/kit';
import type { Library } from './library.ts';
import { NONCE_ACCOUNT_BYTES, nonceSeed } from './slot.ts';

/** Builds messages: pure, given the libraries. */

/** One payment, as it is executed. */
export type Transfer = {
  /** On chain beside the payment, so that it can be found again without our database; undefined between our own addresses. */
  readonly memo: string | undefined;
  /** Whose key signs for the money. */
  readonly source: string;
  /** A wallet, for a token its owner's account. */
  readonly destination: string;
  readonly units: bigint;
  readonly token?: TokenTransfer;
};

export type TokenTransfer = {
  readonly mint: string;
  readonly program: string;
  readonly decimals: number;
  /** The token account that is debited. */
  readonly from: string;
  /** The token account that is credited. */
  readonly to: string;
  /** Whether `to` is the associated account of the destination and must be created. */
  readonly creates: boolean;
};

export type Lifetime =
  | { readonly kind: 'nonce'; readonly account: string; readonly value: string }
  | { readonly kind: 'blockhash'; readonly blockhash: string };

export type Content = {
  /** Pays the fee, and is the authority of the nonce. */
  readonly lane: string;
  readonly lifetime: Lifetime;
  readonly computeBudget: number;
  readonly price: bigint;
};

/**
 * Memos go through the program that every node, explorer and token account knows: Token-2022 accounts that ask for a memo accept
 * no newer one.
 */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

export function nonceAddress({ kit, system }: Library, lane: string, index: number): Promise<string> {
  return kit.createAddressWithSeed({
    baseAddress: kit.address(lane),
    seed: nonceSeed(index),
    programAddress: system.SYSTEM_PROGRAM_ADDRESS,
  });
}

export async function associatedAccount(
  { kit, token }: Library,
  owner: string,
  { mint, program }: { readonly mint: string; readonly program: string },
): Promise<string> {
  const [found] = await token.findAssociatedTokenPda({
    owner: kit.address(owner),
    mint: kit.address(mint),
    tokenProgram: kit.address(program),
  });
  return found;
}

function tokenInstructions(
  library: Library,
  lane: string,
  transfer: Transfer,
  of: TokenTransfer,
): Instruction[] {
  const { kit, token } = library;
  const [mint, tokenProgram] = [kit.address(of.mint), kit.address(of.program)];
  const creation = token.getCreateAssociatedTokenIdempotentInstruction({
    payer: kit.createNoopSigner(kit.address(lane)),
    ata: kit.address(of.to),
    owner: kit.address(transfer.destination),
    mint,
    tokenProgram,
  });
  const payment = token.getTransferCheckedInstruction(
    {
      source: kit.address(of.from),
      mint,
      destination: kit.address(of.to),
      authority: kit.createNoopSigner(kit.address(transfer.source)),
      amount: transfer.units,
      decimals: of.decimals,
    },
    { programAddress: tokenProgram },
  );
  return [...(of.creates ? [creation] : []), ...memoInstructions(library, transfer), payment];
}

const memoInstructions = ({ kit, memo }: Library, { memo: text }: Transfer): Instruction[] =>
  text === undefined
    ? []
    : [memo.getAddMemoInstruction({ memo: text }, { programAddress: kit.address(MEMO_PROGRAM) })];

/** The memo stands directly before its payment: token accounts that ask for one look there. */
export function transferInstructions(library: Library, lane: string, transfer: Transfer): Instruction[] {
  const { kit, system } = library;
  if (transfer.token !== undefined) return tokenInstructions(library, lane, transfer, transfer.token);
  return [
    ...memoInstructions(library, transfer),
    system.getTransferSolInstruction({
      source: kit.createNoopSigner(kit.address(transfer.source)),
      destination: kit.address(transfer.destination),
      amount: transfer.units,
    }),
  ];
}

/** Fails if the account exists: creating it twice is harmless. */
export async function nonceCreation(
  library: Library,
  lane: string,
  index: number,
  rentUnits: bigint,
): Promise<Instruction[]> {
  const { kit, system } = library;
  const base = kit.createNoopSigner(kit.address(lane));
  const newAccount = kit.address(await nonceAddress(library, lane, index));
  return [
    system.getCreateAccountWithSeedInstruction({
      payer: base,
      newAccount,
      baseAccount: base,
      base: base.address,
      seed: nonceSeed(index),
      amount: rentUnits,
      space: BigInt(NONCE_ACCOUNT_BYTES),
      programAddress: system.SYSTEM_PROGRAM_ADDRESS,
    }),
    system.getInitializeNonceAccountInstruction({ nonceAccount: newAccount, nonceAuthority: base.address }),
  ];
}

export function compileMessage(
  { kit }: Library,
  { lane, lifetime, computeBudget, price }: Content,
  instructions: readonly Instruction[],
): Uint8Array {
  const payer = kit.address(lane);
  const empty = kit.setTransactionMessageFeePayer(payer, kit.createTransactionMessage({ version: 'legacy' }));
  const limited = kit.setTransactionMessageComputeUnitPrice(
    price,
    kit.setTransactionMessageComputeUnitLimit(computeBudget, empty),
  );
  const whole = kit.appendTransactionMessageInstructions(instructions, limited);
  // A transaction lives as long as a recent block, or as long as its nonce; the advance of a nonce becomes its first instruction.
  const living =
    lifetime.kind === 'nonce'
      ? kit.setTransactionMessageLifetimeUsingDurableNonce(
          {
            nonce: lifetime.value as Nonce,
            nonceAccountAddress: kit.address(lifetime.account),
            nonceAuthorityAddress: payer,
          },
          whole,
        )
      : kit.setTransactionMessageLifetimeUsingBlockhash(
          // The height until which it is valid is not part of the message.
          { blockhash: kit.blockhash(lifetime.blockhash), lastValidBlockHeight: 0n },
          whole,
        );
  return new Uint8Array(kit.compileTransaction(living).messageBytes);
}
