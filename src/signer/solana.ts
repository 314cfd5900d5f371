import { base58 } from '@scure/base';
import type { Examined, Family, FamilyParts } from './family.ts';
import type { Intent } from './intent.ts';
import { hexOf, type KeyName } from './keys.ts';
import { checkOutputs, type Output, refuse } from './rules.ts';
import {
  associatedAccount,
  type Instruction,
  type Message,
  PROGRAMS,
  readMessage,
  withSeed,
} from './solana-message.ts';

/** Messages that pay coins or configured tokens, with a durable nonce. Any instruction that is not listed here is refused. */

const TOKEN_PROGRAMS: readonly string[] = [PROGRAMS.token, PROGRAMS.token2022];
const FEE_PER_SIGNATURE = 5_000n;
const MICRO = 1_000_000n;
const NONCE_BYTES = 80n;
/** What makes a nonce account exempt from rent. The lane pays it to an account of its own. */
const NONCE_RENT_MAX = 2_000_000n;
const NONCE_SEED = /^ferry-nonce-(0|[1-9][0-9]{0,3})$/;

const lanePath = (lane: number): string => `m/44'/501'/${lane}'`;
const depositPath = (index: number): string => `m/44'/501'/0'/${index}'`;

/** What the instructions of a message do. */
type Effects = {
  readonly outputs: Output[];
  readonly creations: { readonly owner: string; readonly account: string }[];
  nonce: { readonly account: string; readonly authority: string } | undefined;
  computeUnits: bigint | undefined;
  price: bigint;
  rentUnits: bigint;
};

type Examination = {
  readonly parts: FamilyParts;
  readonly intent: Intent;
  readonly own: ReadonlyMap<string, KeyName>;
  readonly lanes: ReadonlySet<string>;
  readonly effects: Effects;
};

const startsWith = (data: Buffer, ...bytes: number[]): boolean =>
  data.subarray(0, bytes.length).equals(Buffer.from(bytes));

function unknown({ program }: Instruction): never {
  return refuse('other-payment', `The bytes have an instruction of ${program} that no payment needs.`);
}

/** Only lanes are the hot wallet: a sweep from one deposit address to another is refused. */
function addOutput({ effects, lanes, intent }: Examination, asset: string, units: bigint, to: string): void {
  effects.outputs.push({ asset, units, to, isOwn: intent.purpose !== 'PAYMENTS' && lanes.has(to) });
}

function readSystem(examination: Examination, instruction: Instruction, index: number): void {
  const { accounts, data } = instruction;
  const { intent, effects, parts } = examination;
  if (startsWith(data, 4, 0, 0, 0) && data.length === 4 && index === 0) {
    effects.nonce = { account: accounts[0]!, authority: accounts[2]! };
  } else if (startsWith(data, 2, 0, 0, 0) && data.length === 12) {
    const native = [...parts.policy.assets].find(([, mint]) => mint === 'native');
    if (native === undefined) refuse('not-allowed', `${intent.network} has no native asset in this signer.`);
    addOutput(examination, native[0], data.readBigUInt64LE(4), accounts[1]!);
  } else if (intent.purpose === 'UPKEEP') readNonceCreation(examination, instruction);
  else unknown(instruction);
}

/** CreateAccountWithSeed and InitializeNonceAccount, for nonce accounts of the lane. */
function readNonceCreation({ intent, effects }: Examination, instruction: Instruction): void {
  const { accounts, data } = instruction;
  const lane = Buffer.from(base58.decode(intent.lane));
  if (startsWith(data, 6, 0, 0, 0) && data.length === 36 && data.subarray(4).equals(lane)) return;
  if (!startsWith(data, 3, 0, 0, 0) || data.length < 44 || !data.subarray(4, 36).equals(lane))
    unknown(instruction);
  const seedEnd = 44 + Math.min(Number(data.readBigUInt64LE(36)), 32);
  const seed = data.subarray(44, seedEnd).toString('latin1');
  const isWhole = data.length === seedEnd + 48 && NONCE_SEED.test(seed);
  if (!isWhole || accounts[1] !== withSeed(intent.lane, seed)) unknown(instruction);
  const [rent, space] = [data.readBigUInt64LE(seedEnd), data.readBigUInt64LE(seedEnd + 8)];
  const isSystem = data.subarray(seedEnd + 16).every((byte) => byte === 0);
  if (rent > NONCE_RENT_MAX || space !== NONCE_BYTES || !isSystem) unknown(instruction);
  effects.rentUnits += rent;
}

function readComputeBudget({ effects }: Examination, instruction: Instruction): void {
  const { data } = instruction;
  if (data[0] === 2 && data.length === 5) effects.computeUnits = BigInt(data.readUInt32LE(1));
  else if (data[0] === 3 && data.length === 9) effects.price = data.readBigUInt64LE(1);
  else unknown(instruction);
}

/** Whose associated account it is, among those who may be paid; the account itself if it is nobody's. */
function ownerOf(
  { intent, parts, own }: Examination,
  account: string,
  mint: string,
  program: string,
): string {
  const { coldAddress } = parts.policy;
  const candidates = [
    ...intent.payments.map(({ address }) => address),
    ...(coldAddress === undefined ? [] : [coldAddress]),
    ...(intent.purpose === 'PAYMENTS' ? [] : own.keys()),
  ];
  return candidates.find((owner) => associatedAccount(owner, mint, program) === account) ?? account;
}

/** TransferChecked. */
function readToken(examination: Examination, instruction: Instruction): void {
  const { accounts, data, program } = instruction;
  if (data[0] !== 12 || data.length !== 10 || accounts.length !== 4) unknown(instruction);
  const [, mint, to] = accounts as [string, string, string];
  const asset = [...examination.parts.policy.assets].find(([, one]) => one === mint);
  if (asset === undefined)
    refuse('other-payment', `The bytes pay tokens of ${mint}, which is not one of this signer.`);
  addOutput(examination, asset[0], data.readBigUInt64LE(1), ownerOf(examination, to, mint, program));
}

/** CreateIdempotent: the account of somebody who is paid by the same message. */
function readAssociated({ effects, parts }: Examination, instruction: Instruction): void {
  const { accounts, data } = instruction;
  const [, account, owner, mint, , program] = accounts as string[];
  const isKnown =
    data.length === 1 && data[0] === 1 && accounts.length === 6 && TOKEN_PROGRAMS.includes(program!);
  if (!isKnown || account !== associatedAccount(owner!, mint!, program!)) unknown(instruction);
  effects.creations.push({ owner: owner!, account });
  effects.rentUnits += parts.networks.crypto(parts.policy.network).tokenAccountRentUnits ?? 0n;
}

function readInstruction(examination: Examination, instruction: Instruction, index: number): void {
  const { program } = instruction;
  if (program === PROGRAMS.system) readSystem(examination, instruction, index);
  else if (program === PROGRAMS.computeBudget) readComputeBudget(examination, instruction);
  else if (program === PROGRAMS.associated) readAssociated(examination, instruction);
  else if (TOKEN_PROGRAMS.includes(program)) readToken(examination, instruction);
  // A memo moves nothing.
  else if (program !== PROGRAMS.memo) unknown(instruction);
}

function checkSlot({ intent, effects }: Examination, { lifetime }: Message): void {
  const { slot, lane, purpose } = intent;
  if (slot === null) {
    // Without a nonce a second version would be a second payment.
    if (purpose === 'UPKEEP' && effects.nonce === undefined) return;
    refuse('other-slot', 'The assignment has no durable nonce.');
  }
  const [index, value] = slot.split(':');
  if (effects.nonce?.account !== withSeed(lane, `ferry-nonce-${index}`) || effects.nonce.authority !== lane)
    refuse('other-slot', `The bytes do not advance nonce account ${index} of ${lane} first.`);
  if (lifetime !== value)
    refuse('other-slot', `The bytes use the nonce ${lifetime}, the assignment ${value}.`);
}

function checkSigners({ intent, own }: Examination, { signers }: Message): void {
  if (signers[0] !== intent.lane || !own.has(intent.lane))
    refuse('other-lane', `The bytes are paid by ${signers[0]}, the assignment is one of ${intent.lane}.`);
  const other = signers.find((one) => !own.has(one) || (one !== intent.lane && intent.purpose !== 'SWEEP'));
  if (other !== undefined) refuse('other-lane', `The bytes need the signature of ${other}.`);
}

function feeOf({ effects }: Examination, { signers }: Message): bigint {
  const { computeUnits, price, rentUnits } = effects;
  if (computeUnits === undefined && price > 0n)
    refuse('unreadable', 'The bytes have a price for compute units, and no limit of them.');
  const priority = ((computeUnits ?? 0n) * price + MICRO - 1n) / MICRO;
  return FEE_PER_SIGNATURE * BigInt(signers.length) + priority + rentUnits;
}

function read(unsigned: Uint8Array): Message {
  try {
    return readMessage(Buffer.from(unsigned));
  } catch (error) {
    return refuse('unreadable', `The bytes are not a Solana message: ${(error as Error).message}.`);
  }
}

function examine(
  parts: FamilyParts,
  { own, lanes }: Pick<Examination, 'own' | 'lanes'>,
  intent: Intent,
  unsigned: Uint8Array,
): Examined {
  const message = read(unsigned);
  const effects: Effects = {
    outputs: [],
    creations: [],
    nonce: undefined,
    computeUnits: undefined,
    price: 0n,
    rentUnits: 0n,
  };
  const examination = { parts, intent, own, lanes, effects };
  for (const [index, instruction] of message.instructions.entries())
    readInstruction(examination, instruction, index);
  checkSigners(examination, message);
  checkSlot(examination, message);
  if (intent.purpose === 'CANCELLATION' && effects.outputs.length > 0)
    refuse('other-payment', 'The bytes of a cancellation pay something.');
  checkOutputs(intent, effects.outputs, parts.policy, (address) => address);
  const useless = effects.creations.find(({ owner }) => !effects.outputs.some(({ to }) => to === owner));
  if (useless !== undefined)
    refuse('other-payment', `The bytes create a token account for ${useless.owner}.`);
  return {
    feeUnitsMax: feeOf(examination, message),
    signs: message.signers.map((signer) => ({ key: own.get(signer)!, bytes: unsigned })),
    finish: async (raw) => ({ signatures: raw.map(hexOf), hash: base58.encode(raw[0]!) }),
  };
}

export async function createSolana(parts: FamilyParts): Promise<Family> {
  const { keys, policy } = parts;
  const addressAt = async (path: string): Promise<[string, KeyName]> => {
    const key: KeyName = { curve: 'ed25519', path };
    return [base58.encode(await keys.publicKey(key)), key];
  };
  const paths = (count: number, path: (index: number) => string): Promise<[string, KeyName][]> =>
    Promise.all(Array.from({ length: count }, (_, index) => addressAt(path(index))));
  const lanes = await paths(policy.lanes, lanePath);
  const deposits = await paths(policy.depositAddresses, depositPath);
  const own = new Map([...lanes, ...deposits]);
  const account = {
    lanes: lanes.map(([address]) => address),
    ...(deposits.length > 0 && { deposits: deposits.map(([address]) => address) }),
  };
  return {
    examine: async (intent, unsigned) =>
      examine(parts, { own, lanes: new Set(account.lanes) }, intent, unsigned),
    account: async () => account,
  };
}
