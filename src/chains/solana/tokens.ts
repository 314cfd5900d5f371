import { base58 } from '@scure/base';

/** Layouts of the accounts of the Token program and of Token-2022, which share their first bytes. */

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const TOKEN_PROGRAMS: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;
/** Accounts of Token-2022 with extensions have the type of the account after the largest base layout. */
const TYPE_AT = ACCOUNT_BYTES;
const [IS_MINT, IS_ACCOUNT] = [1, 2];
const TLV_HEADER_BYTES = 4;
/** A multisig has that many bytes, so an account of the same size gets two more. */
const MULTISIG_BYTES = 355;

/** Extensions of a mint, and the bytes that they need in each token account; those that need none are absent. */
const ACCOUNT_EXTENSION_BYTES: Readonly<Record<number, number>> = {
  /** TransferFeeConfig → TransferFeeAmount */
  1: 8,
  /** NonTransferable → NonTransferableAccount */
  9: 0,
  /** TransferHook → TransferHookAccount */
  14: 1,
  /** Pausable → PausableAccount */
  26: 0,
};

const TRANSFER_FEE = 1;
const NON_TRANSFERABLE = 9;
const TRANSFER_HOOK = 14;

export type Mint = {
  readonly program: string;
  readonly decimals: number;
  /** Types of its extensions; empty for the Token program. */
  readonly extensions: readonly number[];
  /** Why it cannot be paid with this driver; undefined if it can. */
  readonly fault: string | undefined;
  /** Recipients get less than is sent. */
  readonly takesFee: boolean;
};

const view = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);

type Extension = { readonly type: number; readonly data: Uint8Array };

function extensionsOf(data: Uint8Array): Extension[] {
  const found: Extension[] = [];
  let at = TYPE_AT + 1;
  while (at + TLV_HEADER_BYTES <= data.length) {
    const [type, length] = [view(data).getUint16(at, true), view(data).getUint16(at + 2, true)];
    if (type === 0) break;
    found.push({ type, data: data.subarray(at + TLV_HEADER_BYTES, at + TLV_HEADER_BYTES + length) });
    at += TLV_HEADER_BYTES + length;
  }
  return found;
}

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

function faultOf(extensions: readonly Extension[]): string | undefined {
  if (extensions.some(({ type }) => type === NON_TRANSFERABLE)) return 'it cannot be transferred';
  // The program of a hook stands after its authority. A mint can have the extension without a program.
  const hook = extensions.find(({ type }) => type === TRANSFER_HOOK);
  if (hook !== undefined && !isZero(hook.data.subarray(32, 64))) return 'its transfers call another program';
  return undefined;
}

/** Undefined if the account is not a mint. */
export function readMint(owner: string, data: Uint8Array): Mint | undefined {
  if (!TOKEN_PROGRAMS.includes(owner) || data.length < MINT_BYTES || data[45] !== 1) return undefined;
  const isPlain = data.length === MINT_BYTES;
  if (!isPlain && (owner === TOKEN_PROGRAM || data[TYPE_AT] !== IS_MINT)) return undefined;
  const extensions = isPlain ? [] : extensionsOf(data);
  const types = extensions.map(({ type }) => type);
  return {
    program: owner,
    decimals: data[44]!,
    extensions: types,
    fault: faultOf(extensions),
    takesFee: types.includes(TRANSFER_FEE),
  };
}

export type TokenAccount = { readonly mint: string; readonly owner: string; readonly units: bigint };

/** Undefined if the account is not an initialized token account. */
export function readTokenAccount(owner: string, data: Uint8Array): TokenAccount | undefined {
  if (!TOKEN_PROGRAMS.includes(owner) || data.length < ACCOUNT_BYTES || data[108] === 0) return undefined;
  if (data.length > ACCOUNT_BYTES && data[TYPE_AT] !== IS_ACCOUNT) return undefined;
  return {
    mint: base58.encode(data.subarray(0, 32)),
    owner: base58.encode(data.subarray(32, 64)),
    units: view(data).getBigUint64(64, true),
  };
}

/** Bytes of an associated token account of that mint. */
export function tokenAccountBytes({ program, extensions }: Pick<Mint, 'program' | 'extensions'>): number {
  if (program === TOKEN_PROGRAM) return ACCOUNT_BYTES;
  // Every associated account of Token-2022 has the extension for an immutable owner, which has no data.
  const sizes = [0, ...extensions.flatMap((type) => ACCOUNT_EXTENSION_BYTES[type] ?? [])];
  const bytes = sizes.reduce((total, size) => total + TLV_HEADER_BYTES + size, ACCOUNT_BYTES + 1);
  return bytes === MULTISIG_BYTES ? bytes + 2 : bytes;
}
