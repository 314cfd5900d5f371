import { randomUUID } from 'node:crypto';
import { base58 } from '@scure/base';
import type { Instruction, KeyPairSigner } from '@solana/kit';
import { expect } from 'vitest';
import type {
  Assignment,
  Draft,
  Driver,
  LaneState,
  Observation,
  Outgoing,
  Unsigned,
  Version,
} from '../../src/chains/driver.ts';
import { associatedAccount } from '../../src/chains/solana/message.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.ts';
import { readMessage } from '../../src/chains/solana/wire.ts';
import type { TestChain } from './solana-node.ts';
import { until } from './until.ts';

/** Money and transactions on the local Solana chain: mints, transfers of strangers, and the steps of a keeper one by one. */

export const signal = (): AbortSignal => AbortSignal.timeout(60_000);

/** Sends instructions of a stranger, and waits until they are final. */
export async function send(
  { library: { kit }, call }: TestChain,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  signers: readonly KeyPairSigner[] = [],
): Promise<string> {
  const { value } = await call<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'finalized',
  });
  const lifetime = { blockhash: kit.blockhash(value.blockhash), lastValidBlockHeight: 0n };
  const message = kit.appendTransactionMessageInstructions(
    instructions,
    kit.setTransactionMessageLifetimeUsingBlockhash(
      lifetime,
      kit.setTransactionMessageFeePayer(payer.address, kit.createTransactionMessage({ version: 0 })),
    ),
  );
  const keys = [payer, ...signers].map(({ keyPair }) => keyPair);
  const transaction = await kit.signTransaction(keys, kit.compileTransaction(message));
  const wire = kit.getBase64EncodedWireTransaction(transaction);
  await call('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
  const signature = kit.getSignatureFromTransaction(transaction);
  await until('the transaction is final', async () => (await statusOf(call, signature)) === 'finalized');
  return signature;
}

export async function statusOf(call: TestChain['call'], signature: string): Promise<string | undefined> {
  type Statuses = { value: readonly ({ confirmationStatus: string } | null)[] };
  const { value } = await call<Statuses>('getSignatureStatuses', [signature], {
    searchTransactionHistory: true,
  });
  return value[0]?.confirmationStatus;
}

export type TestMint = {
  readonly address: string;
  readonly program: string;
  readonly authority: KeyPairSigner;
};

/** Data of the instruction that gives a mint of Token-2022 a fee on transfers: authorities absent, basis points, maximum. */
function transferFee(points: number): Uint8Array {
  const data = Buffer.alloc(14);
  data.set([26, 0, 0, 0], 0);
  data.writeUInt16LE(points, 4);
  data.writeBigUInt64LE(1_000_000n, 6);
  return data;
}

const MINT_WITH_FEE_BYTES = 278;

/** What a mint of Token-2022 has beside the usual: the bytes of the account, and the instruction that initializes it. */
export type MintExtension = { readonly bytes: number; readonly data: Uint8Array };

const feeOf = (points: number): MintExtension | undefined =>
  points === 0 ? undefined : { bytes: MINT_WITH_FEE_BYTES, data: transferFee(points) };

/** Transfers of the token call that program. */
export function hookTo(program: string): MintExtension {
  const data = Buffer.alloc(66);
  data.set([36, 0], 0);
  data.set(base58.decode(program), 34);
  return { bytes: 234, data };
}

/** A mint of 6 decimals; with a fee on transfers in basis points if Token-2022 is to have an extension. */
export async function createMint(
  chain: TestChain,
  program: 'token' | 'token-2022',
  feePoints = 0,
  extension = feeOf(feePoints),
): Promise<TestMint> {
  const { kit, system, token } = chain.library;
  const [authority, mint] = await Promise.all([chain.wallet(10_000_000_000n), chain.wallet()]);
  const programAddress = kit.address(program === 'token' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM);
  const space = extension?.bytes ?? 82;
  const lamports = await chain.call<number>('getMinimumBalanceForRentExemption', space);
  const creation = system.getCreateAccountInstruction({
    payer: authority,
    newAccount: mint,
    lamports,
    space,
    programAddress,
  });
  const accounts = [{ address: mint.address, role: 1 }];
  const extending = extension === undefined ? [] : [{ programAddress, accounts, data: extension.data }];
  const initialization = token.getInitializeMint2Instruction(
    { mint: mint.address, decimals: 6, mintAuthority: authority.address },
    { programAddress },
  );
  await send(chain, authority, [creation, ...extending, initialization], [mint]);
  return { address: mint.address, program: programAddress, authority };
}

/** Creates tokens in the associated account of the owner. */
export async function mintTo(
  chain: TestChain,
  mint: TestMint,
  owner: string,
  units: bigint,
): Promise<string> {
  const { kit, token } = chain.library;
  const account = await associatedAccount(chain.library, owner, {
    mint: mint.address,
    program: mint.program,
  });
  const [address, programAddress] = [kit.address(mint.address), kit.address(mint.program)];
  return send(chain, mint.authority, [
    token.getCreateAssociatedTokenIdempotentInstruction({
      payer: mint.authority,
      ata: kit.address(account),
      owner: kit.address(owner),
      mint: address,
      tokenProgram: programAddress,
    }),
    token.getMintToInstruction(
      { mint: address, token: kit.address(account), mintAuthority: mint.authority, amount: units },
      { programAddress },
    ),
  ]);
}

export async function tokenUnits(
  chain: TestChain,
  mint: TestMint,
  owner: string,
): Promise<bigint | undefined> {
  const account = await associatedAccount(chain.library, owner, {
    mint: mint.address,
    program: mint.program,
  });
  const found = await chain
    .call<{ value: { amount: string } }>('getTokenAccountBalance', account)
    .catch(() => undefined);
  return found === undefined ? undefined : BigInt(found.value.amount);
}

export const lamportsOf = async ({ call }: TestChain, address: string): Promise<bigint> =>
  BigInt((await call<{ value: number }>('getBalance', address)).value);

export const outgoing = (address: string, asset: string, units: bigint): Outgoing => ({
  key: randomUUID(),
  asset,
  units,
  address,
});

export const laneState = (lane: string, open: readonly Assignment[] = []): LaneState => ({
  lane,
  open,
  nextSlot: undefined,
  coins: [],
});

export const assigned = (lane: string, draft: Draft): Assignment => ({
  ...draft,
  id: randomUUID(),
  lane,
  assignedAtMs: 0,
});

/** A version of the assignment, signed by the keys. */
export async function signed(
  { library: { kit } }: TestChain,
  driver: Driver,
  unsigned: Unsigned,
  keys: readonly KeyPairSigner[],
  number = 1,
): Promise<Version> {
  const message = Buffer.from(unsigned.bytes, 'hex');
  const { accounts, signatures: needed } = readMessage(message);
  const inOrder = accounts
    .slice(0, needed)
    .map((account) => keys.find(({ address }) => address === account)!);
  const signatures = await Promise.all(
    inOrder.map(async ({ keyPair }) =>
      Buffer.from(await kit.signBytes(keyPair.privateKey, message)).toString('hex'),
    ),
  );
  const { feeUnitsMax, feeRate } = unsigned;
  const whole = await driver.complete(unsigned, signatures, '');
  return { ...whole, feeUnitsMax, feeRate, number, signedAtMs: 0 };
}

export const isEnd = ({ kind }: Observation): boolean => kind === 'final' || kind === 'superseded';

export async function untilEnd(
  driver: Driver,
  assignment: Assignment,
  versions: readonly Version[],
): Promise<Observation> {
  let last: Observation = { kind: 'unseen' };
  await until('the assignment has an end', async () => {
    last = await driver.observe(assignment, versions, signal());
    return isEnd(last);
  });
  return last;
}

export type Sent = { readonly assignment: Assignment; readonly version: Version; readonly end: Observation };

/** Plans, signs and sends one assignment, and follows it to its end. */
export async function carryOut(
  chain: TestChain,
  driver: Driver,
  lane: KeyPairSigner,
  draft: Draft,
  others: readonly KeyPairSigner[] = [],
): Promise<Sent> {
  const assignment = assigned(lane.address, draft);
  const unsigned = await driver.build(assignment, [], signal());
  const version = await signed(chain, driver, unsigned!, [lane, ...others]);
  await driver.broadcast(version, signal());
  return { assignment, version, end: await untilEnd(driver, assignment, [version]) };
}

export async function draftOf(
  driver: Driver,
  state: LaneState,
  waiting: readonly Outgoing[],
): Promise<Draft> {
  const plan = await driver.plan(state, waiting, signal());
  if (plan.kind === 'wait') throw new Error(`${plan.code}: ${plan.reason}`);
  return plan.draft;
}

/** A funded lane whose nonce accounts exist. */
export async function readyLane(
  chain: TestChain,
  driver: Driver,
  lamports = 10_000_000_000n,
): Promise<KeyPairSigner> {
  const lane = await chain.wallet(lamports);
  const draft = await draftOf(driver, laneState(lane.address), [outgoing(lane.address, 'SOL', 1n)]);
  const { end } = await carryOut(chain, driver, lane, draft);
  expect(end).toMatchObject({ kind: 'final', succeeded: true });
  return lane;
}
