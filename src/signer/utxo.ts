import { type Examined, type Family, type FamilyParts, RELATIVE_PATH } from './family.ts';
import type { Intent, IntentCoin } from './intent.ts';
import { hexOf, type KeyName } from './keys.ts';
import { digestsOf, hashWithSignatures, readPsbt, type UnsignedTransaction } from './psbt.ts';
import { checkOutputs, type Output, refuse } from './rules.ts';
import { hash160, ownScript, scriptOf, type UtxoChain, utxoChain } from './scripts.ts';

/** Transactions that spend exactly the coins of the assignment. */

const SCRIPT_BYTES_MAX = 252;

type Parts = FamilyParts & { readonly chain: UtxoChain };

function read(unsigned: Uint8Array): UnsignedTransaction {
  try {
    return readPsbt(Buffer.from(unsigned));
  } catch (error) {
    return refuse('unreadable', `The bytes are not a PSBT of a transaction: ${(error as Error).message}.`);
  }
}

const keyAt = ({ chain }: Parts, path: string): KeyName => ({
  curve: 'secp256k1',
  path: `${chain.account}/${path}`,
});

/** The coins of the assignment in the order of the inputs. */
function coinsOf({ id, coins }: Intent, { inputs }: UnsignedTransaction): IntentCoin[] {
  const byOutpoint = new Map(coins.map((coin) => [`${coin.txHash}:${coin.output}`, coin]));
  const spent = inputs.map(({ txHash, output }) => {
    const coin = byOutpoint.get(`${txHash}:${output}`);
    if (coin === undefined || !byOutpoint.delete(`${txHash}:${output}`))
      refuse('other-slot', `The bytes spend ${txHash}:${output}, which is not a coin of assignment ${id}.`);
    return coin;
  });
  // Without one of its coins, a later version would not exclude this one.
  if (byOutpoint.size > 0)
    refuse('other-slot', `The bytes spend ${spent.length} coins, assignment ${id} has ${coins.length}.`);
  return spent;
}

const CHANGE_PATH = '1/0';

/** Scripts of the wallet: that of the change, and those of the coins themselves. A sweep pays only the first. */
async function ownScripts(parts: Parts, intent: Intent): Promise<ReadonlySet<string>> {
  const { changePath = CHANGE_PATH } = intent.details;
  const isSweep = intent.purpose === 'SWEEP';
  const paths = new Set(isSweep ? [CHANGE_PATH] : [changePath, ...intent.coins.map(({ path }) => path)]);
  const scripts = await Promise.all(
    [...paths].map(async (path) => {
      if (!RELATIVE_PATH.test(path)) refuse('other-lane', `"${path}" is not a path below the account.`);
      return hexOf(ownScript(parts.chain, await parts.keys.publicKey(keyAt(parts, path))).script);
    }),
  );
  return new Set(scripts);
}

function outputsOf(
  parts: Parts,
  transaction: UnsignedTransaction,
  own: ReadonlySet<string>,
): readonly Output[] {
  const native = [...parts.policy.assets].find(([, contract]) => contract === 'native');
  if (native === undefined)
    refuse('not-allowed', `${parts.policy.network} has no native asset in this signer.`);
  return transaction.outputs.map(({ units, script }) => {
    if (script.length > SCRIPT_BYTES_MAX) refuse('other-payment', 'An output has a script of no address.');
    return { asset: native[0], units, to: hexOf(script), isOwn: own.has(hexOf(script)) };
  });
}

/** By which the chain and the database know the signed transaction. */
function hashOf(
  { chain }: Parts,
  transaction: UnsignedTransaction,
  raw: readonly Uint8Array[],
  publicKeys: readonly Uint8Array[],
): string {
  // Witnesses are not part of the hash; on Bitcoin Cash the signatures are.
  if (chain.segwit.length > 0) return transaction.hash;
  const proofs = raw.map((one, index) => ({ raw: one, publicKey: publicKeys[index]! }));
  return hashWithSignatures(transaction, proofs, chain.sighash);
}

async function examine(parts: Parts, intent: Intent, unsigned: Uint8Array): Promise<Examined> {
  const transaction = read(unsigned);
  const coins = coinsOf(intent, transaction);
  const own = await ownScripts(parts, intent);
  const outputs = outputsOf(parts, transaction, own);
  const place = (address: string): string => {
    const script = scriptOf(parts.chain, address);
    return script === undefined
      ? refuse('other-payment', `${address} is not an address of ${intent.network}.`)
      : hexOf(script);
  };
  checkOutputs(intent, outputs, parts.policy, place);
  const inUnits = coins.reduce((sum, { units }) => sum + units, 0n);
  const feeUnitsMax = outputs.reduce((left, { units }) => left - units, inUnits);
  if (feeUnitsMax < 0n) refuse('unreadable', 'The outputs of the bytes are worth more than the coins.');
  const keys = coins.map(({ path }) => keyAt(parts, path));
  const publicKeys = await Promise.all(keys.map((key) => parts.keys.publicKey(key)));
  const covered = publicKeys.map((publicKey) => ownScript(parts.chain, publicKey).covered);
  const digests = digestsOf(
    transaction,
    coins.map(({ units }, index) => ({ units, covered: covered[index]! })),
    parts.chain.sighash,
  );
  return {
    feeUnitsMax,
    signs: digests.map((bytes, index) => ({ key: keys[index]!, bytes })),
    finish: async (raw) => ({
      signatures: raw.map(hexOf),
      hash: hashOf(parts, transaction, raw, publicKeys),
    }),
  };
}

export async function createUtxo(given: FamilyParts): Promise<Family> {
  const { networks, keys, policy } = given;
  const { addresses } = networks.crypto(policy.network);
  const chain = utxoChain(addresses.chain);
  if (chain === undefined) throw new Error(`the signer does not know the chain of ${policy.network}`);
  const parts = { ...given, chain };
  const xpub = keys.xpub(chain.account, policy.isTest);
  const first = addresses.addressFrom(hash160(await keys.publicKey(keyAt(parts, '0/0'))));
  return {
    examine: (intent, unsigned) => examine(parts, intent, unsigned),
    account: async () => ({ lanes: [first], ...(xpub !== undefined && { xpub }) }),
  };
}
