import { keccak_256 } from '@noble/hashes/sha3.js';
import { EVM_ADDRESSES } from '../networks/evm.ts';
import type { Examined, Family, FamilyParts } from './family.ts';
import type { Intent } from './intent.ts';
import { hexOf, type KeyName, uncompressed } from './keys.ts';
import { checkOutputs, type Output, refuse } from './rules.ts';

/** EIP-1559 transactions that pay the native coin, or call `transfer` of a configured token. Nothing else is signed. */

const ACCOUNT = "m/44'/60'/0'";
/** `transfer(address,uint256)` of ERC-20, with an address that fills its word with zeros. */
const TRANSFER = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/;

/** Below the account: chain 0 has the lanes, chain 1 the addresses for deposits. */
const DEPOSIT_PATH = /^1\/[0-9]{1,9}$/;

const canonical = EVM_ADDRESSES.canonical;
const lanePath = (lane: number): string => `${ACCOUNT}/0/${lane}`;

export function evmAddress(publicKey: Uint8Array): string {
  return canonical(`0x${hexOf(keccak_256(uncompressed(publicKey).subarray(1)).subarray(12))}`);
}

type Lane = { readonly address: string; readonly key: KeyName };
type Hex = `0x${string}`;

async function readTransaction(unsigned: Uint8Array) {
  const { parseTransaction, serializeTransaction } = await import('viem');
  const bytes: Hex = `0x${hexOf(unsigned)}`;
  try {
    const parsed = parseTransaction(bytes);
    // What was understood must be everything that is there: a second encoding of the same fields is refused, too.
    const isWhole = parsed.type === 'eip1559' && parsed.r === undefined && parsed.s === undefined;
    if (isWhole && serializeTransaction(parsed) === bytes) return parsed;
  } catch {
    // The parser quotes the bytes; the refusal below says enough.
  }
  return refuse('unreadable', 'The bytes are not an EIP-1559 transaction without a signature.');
}

type Transaction = Awaited<ReturnType<typeof readTransaction>>;

function outputOf(
  { to, value = 0n, data = '0x' }: Transaction,
  { policy }: FamilyParts,
): Omit<Output, 'isOwn'> {
  if (to === undefined || to === null) refuse('other-payment', 'The bytes create a contract.');
  const assets = [...policy.assets];
  if (data === '0x') {
    const native = assets.find(([, contract]) => contract === 'native');
    if (native === undefined) refuse('not-allowed', `${policy.network} has no native asset in this signer.`);
    return { asset: native[0], units: value, to: canonical(to) };
  }
  const token = assets.find(([, contract]) => contract !== 'native' && canonical(contract) === canonical(to));
  if (token === undefined)
    refuse('other-payment', `The bytes call ${to}, which is not a token of this signer.`);
  const [, recipient, units] = TRANSFER.exec(data) ?? [];
  if (recipient === undefined || value !== 0n)
    refuse('other-payment', `The bytes call ${to} with something else than transfer(address,uint256).`);
  return { asset: token[0], units: BigInt(`0x${units}`), to: canonical(`0x${recipient}`) };
}

/** The deposit address whose path the assignment names: a sweep empties it, and upkeep pays the gas for that. */
async function depositOf({ keys }: FamilyParts, { purpose, details }: Intent): Promise<Lane | undefined> {
  const { path = '' } = details;
  if (!['SWEEP', 'UPKEEP'].includes(purpose) || !DEPOSIT_PATH.test(path)) return undefined;
  const key: KeyName = { curve: 'secp256k1', path: `${ACCOUNT}/${path}` };
  return { key, address: evmAddress(await keys.publicKey(key)) };
}

function senderOf(intent: Intent, lanes: readonly Lane[], deposit: Lane | undefined): Lane {
  const address = canonical(intent.lane);
  const senders = intent.purpose === 'SWEEP' ? [deposit] : lanes;
  const sender = senders.find((one) => one?.address === address);
  if (sender !== undefined) return sender;
  if (intent.purpose === 'SWEEP')
    refuse(
      'other-lane',
      `${intent.lane} is not the address for deposits at the path ${JSON.stringify(intent.details.path ?? null)} of this signer.`,
    );
  return refuse('other-lane', `${intent.lane} is not a sending address of this signer on ${intent.network}.`);
}

function checkSlot(intent: Intent, { nonce = 0, chainId }: Transaction, { policy }: FamilyParts): void {
  if (BigInt(chainId) !== policy.chainId)
    refuse(
      'other-chain',
      `The bytes are for chain ${chainId}, chain_id of ${policy.network} is ${policy.chainId}.`,
    );
  if (intent.slot !== String(nonce))
    refuse('other-slot', `The bytes use nonce ${nonce}, the assignment ${intent.slot ?? 'none'}.`);
}

async function recovered(digest: Uint8Array, raw: Uint8Array, address: string): Promise<string> {
  const { recoverAddress } = await import('viem');
  for (const parity of ['00', '01']) {
    const signature = `${hexOf(raw)}${parity}`;
    const signer = await recoverAddress({ hash: `0x${hexOf(digest)}`, signature: `0x${signature}` }).catch(
      () => undefined,
    );
    if (signer === address) return signature;
  }
  throw new Error(`the keys returned a signature that is not one of ${address}`);
}

async function examine(
  parts: FamilyParts,
  lanes: readonly Lane[],
  intent: Intent,
  unsigned: Uint8Array,
): Promise<Examined> {
  const transaction = await readTransaction(unsigned);
  checkSlot(intent, transaction, parts);
  if ((transaction.accessList ?? []).length > 0)
    refuse('other-payment', 'The bytes have an access list, which no payment needs.');
  const deposit = await depositOf(parts, intent);
  const sender = senderOf(intent, lanes, deposit);
  const { gas = 0n, maxFeePerGas = 0n } = transaction;
  const output = outputOf(transaction, parts);
  const own = intent.purpose === 'UPKEEP' && deposit !== undefined ? [...lanes, deposit] : lanes;
  const isOwn = intent.purpose !== 'PAYMENTS' && own.some(({ address }) => address === output.to);
  // The only use of a cancellation is its nonce.
  if (intent.purpose === 'CANCELLATION' && (output.to !== sender.address || output.units !== 0n))
    refuse('other-payment', 'The bytes of a cancellation pay something.');
  checkOutputs(intent, [{ ...output, isOwn }], parts.policy, canonical);
  const digest = keccak_256(unsigned);
  return {
    feeUnitsMax: gas * maxFeePerGas,
    signs: [{ key: sender.key, bytes: digest }],
    async finish([raw]) {
      const { keccak256, parseSignature, serializeTransaction } = await import('viem');
      const signature = await recovered(digest, raw!, sender.address);
      return {
        signatures: [signature],
        hash: keccak256(serializeTransaction(transaction, parseSignature(`0x${signature}`))),
      };
    },
  };
}

export async function createEvm(parts: FamilyParts): Promise<Family> {
  const { keys, policy } = parts;
  const lanes: Lane[] = [];
  for (let lane = 0; lane < policy.lanes; lane += 1) {
    const key: KeyName = { curve: 'secp256k1', path: lanePath(lane) };
    lanes.push({ key, address: evmAddress(await keys.publicKey(key)) });
  }
  const xpub = keys.xpub(ACCOUNT);
  return {
    examine: (intent, unsigned) => examine(parts, lanes, intent, unsigned),
    account: async () => ({
      lanes: lanes.map(({ address }) => address),
      ...(xpub !== undefined && { xpub }),
    }),
  };
}
