import { createPublicKey, verify } from 'node:crypto';
import { Transaction as Psbt } from '@scure/btc-signer';
import type { Coin, Signed } from '../driver.ts';
import type { Account, AccountKey } from './account.ts';
import { hash160, sha256 } from './bytes.ts';
import type { Chain } from './chain.ts';
import { addressOf, walletScript } from './script.ts';
import { hashOf, signedHashes, type Transaction, writeTransaction } from './transaction.ts';

/**
 * Transactions without signatures are PSBTs (BIP-174) on all three networks. Each input has the coin's amount and script, and
 * the path of its key: everything that a signer needs to see what it signs. Signatures cover the amounts, on Bitcoin Cash too.
 */

/** Signals that the transaction may be replaced; final on a network without replacement. */
const REPLACEABLE = 0xffff_fffd;
const FINAL = 0xffff_ffff;

/** Ferry writes inputs of Bitcoin Cash with the amounts that their signatures cover, as those of segwit. */
export const PSBT_OPTIONS = { allowLegacyWitnessUtxo: true, allowUnknownOutputs: true, version: 2 } as const;

export type Spending = {
  readonly coins: readonly Coin[];
  readonly outputs: readonly { readonly script: Uint8Array; readonly units: bigint }[];
  /** The last output, if there is change. */
  readonly change?: AccountKey;
};

const derivationOf = ({
  publicKey,
  origin,
}: AccountKey): [Uint8Array, { fingerprint: number; path: number[] }][] => [
  [publicKey, { fingerprint: origin.fingerprint, path: [...origin.path] }],
];

export function writePsbt(chain: Chain, account: Account, { coins, outputs, change }: Spending): string {
  const psbt = new Psbt(PSBT_OPTIONS);
  for (const { txHash, output, units, address, path } of coins) {
    const key = account.keyAt(path);
    if (key.address !== address) throw new Error(`the key at ${path} is not that of ${address}`);
    psbt.addInput({
      txid: txHash,
      index: output,
      sequence: chain.hasReplacement ? REPLACEABLE : FINAL,
      witnessUtxo: { script: key.script, amount: units },
      bip32Derivation: derivationOf(key),
    });
  }
  for (const [index, { script, units }] of outputs.entries()) {
    const isChange = change !== undefined && index === outputs.length - 1;
    psbt.addOutput({ script, amount: units, ...(isChange && { bip32Derivation: derivationOf(change) }) });
  }
  return Buffer.from(psbt.toPSBT(0)).toString('hex');
}

/** What a signer sees in the bytes. */
export type Inspected = {
  readonly inputs: readonly {
    readonly txHash: string;
    readonly output: number;
    readonly units: bigint;
    readonly address: string;
    readonly publicKey: Uint8Array;
    /** Below the account, such as `0/17`. */
    readonly path: string;
    /** The SHA-256 of this is signed. */
    readonly signedHash: Uint8Array;
  }[];
  /** An output without an address has a script that Ferry never writes. */
  readonly outputs: readonly { readonly address: string | undefined; readonly units: bigint }[];
  readonly feeUnits: bigint;
  readonly transaction: Transaction;
  /** The output that has the path of a key: payments have none, even to addresses of the wallet. */
  readonly change: Pick<Coin, 'output' | 'units' | 'address' | 'path'> | undefined;
};

function inputOf(chain: Chain, psbt: Psbt, index: number) {
  const { txid, index: output, sequence, witnessUtxo, bip32Derivation } = psbt.getInput(index);
  const [publicKey, derivation] = bip32Derivation?.[0] ?? [];
  if (txid === undefined || output === undefined || witnessUtxo === undefined || publicKey === undefined)
    throw new Error(`input ${index} has no coin or no key`);
  const keyHash = hash160(publicKey);
  const script = walletScript(chain, keyHash);
  if (!Buffer.from(script).equals(witnessUtxo.script))
    throw new Error(`input ${index} has the key of another coin`);
  return {
    txHash: Buffer.from(txid).toString('hex'),
    output,
    sequence: sequence ?? FINAL,
    units: witnessUtxo.amount,
    address: addressOf(chain, script)!,
    publicKey,
    keyHash,
    path: derivation!.path.slice(-2).join('/'),
  };
}

function changeIn(chain: Chain, psbt: Psbt): Inspected['change'] {
  for (let output = psbt.outputsLength - 1; output >= 0; output -= 1) {
    const { script, amount, bip32Derivation } = psbt.getOutput(output);
    const [, derivation] = bip32Derivation?.[0] ?? [];
    if (derivation === undefined) continue;
    const path = derivation.path.slice(-2).join('/');
    return { output, units: amount!, address: addressOf(chain, script!)!, path };
  }
  return undefined;
}

/** Pure, and independent of who made the bytes. Throws if they are not a transaction from a wallet like ours. */
export function inspect(chain: Chain, unsigned: string): Inspected {
  const psbt = Psbt.fromPSBT(Buffer.from(unsigned, 'hex'), PSBT_OPTIONS);
  const coins = Array.from({ length: psbt.inputsLength }, (_, index) => inputOf(chain, psbt, index));
  const outputs = Array.from({ length: psbt.outputsLength }, (_, index) => {
    const { script, amount } = psbt.getOutput(index);
    if (script === undefined || amount === undefined) throw new Error(`output ${index} is not complete`);
    return { script, units: amount };
  });
  const transaction: Transaction = {
    version: psbt.version,
    inputs: coins.map(({ txHash, output, sequence }) => ({
      txHash,
      output,
      sequence,
      script: new Uint8Array(),
      witness: [],
    })),
    outputs,
    lockTime: psbt.lockTime,
  };
  const hashes = signedHashes(transaction, coins, chain.sighash);
  const inUnits = coins.reduce((sum, { units }) => sum + units, 0n);
  return {
    inputs: coins.map(({ txHash, output, units, address, publicKey, path }, index) => ({
      txHash,
      output,
      units,
      address,
      publicKey,
      path,
      signedHash: hashes[index]!,
    })),
    outputs: outputs.map(({ script, units }) => ({ address: addressOf(chain, script), units })),
    feeUnits: outputs.reduce((left, { units }) => left - units, inUnits),
    transaction,
    change: changeIn(chain, psbt),
  };
}

/** What a signer signs for each input, in their order: the digest, and the path of the key below the account. */
export function digests(
  chain: Chain,
  unsigned: string,
): { readonly path: string; readonly digest: Uint8Array }[] {
  return inspect(chain, unsigned).inputs.map(({ path, signedHash }) => ({
    path,
    digest: sha256(signedHash),
  }));
}

const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;

function derInteger(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const signed = bytes[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
  return Buffer.concat([Buffer.of(0x02, signed.length), signed]);
}

/** Nodes relay only the smaller one of the two values that are valid for `s`. */
function derSignature(signature: string): Buffer {
  if (!/^[0-9a-f]{128}$/.test(signature)) throw new Error('a signature is not 64 bytes in hexadecimal');
  const r = BigInt(`0x${signature.slice(0, 64)}`);
  const s = BigInt(`0x${signature.slice(64)}`);
  const body = Buffer.concat([derInteger(r), derInteger(s > ORDER / 2n ? ORDER - s : s)]);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

/** What comes before a compressed key of secp256k1 in the form that Node reads (SubjectPublicKeyInfo). */
const KEY_HEADER = Buffer.from('3036301006072a8648ce3d020106052b8104000a032200', 'hex');

function isValid(publicKey: Uint8Array, signedHash: Uint8Array, signature: Buffer): boolean {
  const key = createPublicKey({ key: Buffer.concat([KEY_HEADER, publicKey]), format: 'der', type: 'spki' });
  return verify('sha256', signedHash, key, signature);
}

/**
 * Joins the PSBT with one signature for each input: r and s, 32 bytes each. Throws if one is not valid, because nodes would
 * refuse the transaction for as long as it exists.
 */
export function completePsbt(chain: Chain, unsigned: string, signatures: readonly string[]): Signed {
  const { inputs, transaction, change } = inspect(chain, unsigned);
  if (signatures.length !== inputs.length)
    throw new Error(`there are ${signatures.length} signatures for ${inputs.length} inputs`);
  const signed = inputs.map(({ publicKey, signedHash }, index) => {
    const signature = derSignature(signatures[index]!);
    if (!isValid(publicKey, signedHash, signature))
      throw new Error(`the signature of input ${index} is not valid`);
    const proof = [Buffer.concat([signature, Buffer.of(chain.sighash)]), publicKey];
    const input = transaction.inputs[index]!;
    if (chain.hasSegwit) return { ...input, witness: proof };
    return { ...input, script: Buffer.concat(proof.flatMap((item) => [Buffer.of(item.length), item])) };
  });
  const complete = { ...transaction, inputs: signed };
  const hash = hashOf(complete);
  const bytes = writeTransaction(complete).toString('hex');
  return { hash, bytes, ...(change && { change: { ...change, txHash: hash, height: null } }) };
}
