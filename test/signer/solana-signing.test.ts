import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createAddressWithSeed,
  createTransactionMessage,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
  type Nonce,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLifetimeUsingDurableNonce,
} from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { associatedAccount } from '../../src/signer/solana-message.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type AssignmentOrder,
  commit,
  MINT,
  makeDirectory,
  openTestSigner,
  removeDirectory,
  type TestSigner,
} from './support.ts';

/** Messages made with Solana's own library. */

let test: TestDatabase;
let tested: TestSigner;
let lane: string;
let deposits: readonly string[];
const directory = makeDirectory();

const SYSTEM = address('11111111111111111111111111111111');
const TOKEN = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const BUDGET = address('ComputeBudget111111111111111111111111111111');
const PAYEE = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const STRANGER = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy';

beforeAll(async () => {
  test = await createTestDatabase();
  tested = await openTestSigner(test.database, { directory });
  const account = await tested.signer.account('SOLANA', new AbortController().signal);
  lane = account.lanes[0]!;
  deposits = account.deposits!;
});
afterAll(async () => {
  await tested.close();
  await test.drop();
  removeDirectory(directory);
});

const signer = (one: string) => ({ address: address(one), role: AccountRole.WRITABLE_SIGNER });
const writable = (one: string) => ({ address: address(one), role: AccountRole.WRITABLE });
const readonly = (one: string) => ({ address: address(one), role: AccountRole.READONLY });

function numbers(...parts: readonly [bits: 8 | 32 | 64, value: bigint][]): Uint8Array {
  return Buffer.concat(
    parts.map(([bits, value]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(value);
      return bytes.subarray(0, bits / 8);
    }),
  );
}

const transfer = (to: string, units: bigint, from = lane): Instruction => ({
  programAddress: SYSTEM,
  accounts: [signer(from), writable(to)],
  data: numbers([32, 2n], [64, units]),
});
const memo = (text: string): Instruction => ({ programAddress: MEMO, data: Buffer.from(text) });
const budget = (units: bigint, price: bigint): Instruction[] => [
  { programAddress: BUDGET, data: numbers([8, 2n], [32, units]) },
  { programAddress: BUDGET, data: numbers([8, 3n], [64, price]) },
];
const createAccount = (owner: string): Instruction => ({
  programAddress: ASSOCIATED,
  accounts: [
    signer(lane),
    writable(associatedAccount(owner, MINT, TOKEN)),
    readonly(owner),
    readonly(MINT),
    readonly(SYSTEM),
    readonly(TOKEN),
  ],
  data: Uint8Array.of(1),
});
const tokens = (owner: string, units: bigint, mint = MINT): Instruction => ({
  programAddress: TOKEN,
  accounts: [
    writable(associatedAccount(lane, mint, TOKEN)),
    readonly(mint),
    writable(associatedAccount(owner, mint, TOKEN)),
    { address: address(lane), role: AccountRole.READONLY_SIGNER },
  ],
  data: numbers([8, 12n], [64, units], [8, 6n]),
});

let used = 0;
function newNonce(): string {
  used += 1;
  return base58.encode(Buffer.alloc(32, used));
}

async function messageOf(
  instructions: readonly Instruction[],
  index: number,
  nonce: string,
): Promise<string> {
  const payer = address(lane);
  const nonceAccountAddress = await createAddressWithSeed({
    baseAddress: payer,
    seed: `ferry-nonce-${index}`,
    programAddress: SYSTEM,
  });
  const lifetime = { nonce: nonce as Nonce, nonceAccountAddress, nonceAuthorityAddress: payer };
  const empty = setTransactionMessageFeePayer(payer, createTransactionMessage({ version: 'legacy' }));
  const living = setTransactionMessageLifetimeUsingDurableNonce(lifetime, empty);
  const whole = appendTransactionMessageInstructions(instructions, living);
  return Buffer.from(compileTransaction(whole).messageBytes).toString('hex');
}

type Order = Pick<AssignmentOrder, 'payments' | 'purpose'> & {
  instructions: readonly Instruction[];
  index?: number;
  nonce?: string;
};

async function prepare({ instructions, index = 3, nonce, ...order }: Order) {
  const value = newNonce();
  const { id } = await commit(test.database, { network: 'SOLANA', lane, slot: `3:${value}`, ...order });
  return { id, bytes: await messageOf(instructions, index, nonce ?? value) };
}

async function code(order: Order): Promise<string | undefined> {
  const { id, bytes } = await prepare(order);
  return tested.codeFor('SOLANA', id, bytes);
}

const coins = (units: bigint, to = PAYEE) => ({ asset: 'SOL', units, address: to });
const dollars = (units: bigint, to = PAYEE) => ({ asset: 'USDC', units, address: to });

describe('the signer signs on Solana', () => {
  it('payments of coins, with a signature that is valid for the lane', async () => {
    const instructions = [
      ...budget(50_000n, 1_000_000n),
      memo('a'),
      transfer(PAYEE, 5n),
      memo('b'),
      transfer(STRANGER, 6n),
    ];
    const { id, bytes } = await prepare({ payments: [coins(5n), coins(6n, STRANGER)], instructions });
    const [signature, ...others] = await tested.ask('SOLANA', id, bytes);
    expect(others).toEqual([]);
    const x = Buffer.from(base58.decode(lane)).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    expect(verify(null, Buffer.from(bytes, 'hex'), key, Buffer.from(signature!, 'hex'))).toBe(true);
  });

  it('payments of tokens, and creates the account of the recipient', async () => {
    const instructions = [createAccount(PAYEE), memo('a'), tokens(PAYEE, 7n)];
    expect(await code({ payments: [dollars(7n)], instructions })).toBeUndefined();
  });

  it('the cancellation of a nonce, and a sweep of a deposit address', async () => {
    expect(await code({ purpose: 'CANCELLATION', instructions: [] })).toBeUndefined();
    expect(await code({ purpose: 'CANCELLATION', instructions: [transfer(lane, 1n)] })).toBe('other-payment');
    expect(await code({ purpose: 'SWEEP', instructions: [transfer(lane, 5n, deposits[1])] })).toBeUndefined();
    expect(await code({ purpose: 'SWEEP', instructions: [transfer(PAYEE, 5n, deposits[1])] })).toBe(
      'not-allowed',
    );
    const foreign = { payments: [coins(5n)], instructions: [transfer(PAYEE, 5n, deposits[1])] };
    expect(await code(foreign)).toBe('other-lane');
  });

  it('with the addresses that every wallet derives from the same words, and token accounts as Solana derives them', async () => {
    expect(deposits[0]).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
    const encoder = getAddressEncoder();
    for (const owner of [PAYEE, STRANGER, lane, ...deposits]) {
      const seeds = [owner, TOKEN, MINT].map((one) => encoder.encode(one as Address));
      const [expected] = await getProgramDerivedAddress({ programAddress: ASSOCIATED, seeds });
      expect(associatedAccount(owner, MINT, TOKEN)).toBe(expected);
    }
  });
});

describe('upkeep on Solana', () => {
  const LAMPORTS = 1_447_680n;
  const blockhash = base58.encode(Buffer.alloc(32, 250));
  const seedOf = (index: number): string => `ferry-nonce-${index}`;
  const accountOf = (index: number): Promise<string> =>
    createAddressWithSeed({ baseAddress: address(lane), seed: seedOf(index), programAddress: SYSTEM });

  /** CreateAccountWithSeed and InitializeNonceAccount. */
  const creation = (account: string, seed: string, units: bigint, authority = lane): Instruction[] => [
    {
      programAddress: SYSTEM,
      accounts: [signer(lane), writable(account)],
      data: Buffer.concat([
        numbers([32, 3n]),
        base58.decode(lane),
        numbers([64, BigInt(seed.length)]),
        Buffer.from(seed),
        numbers([64, units], [64, 80n]),
        base58.decode(SYSTEM),
      ]),
    },
    {
      programAddress: SYSTEM,
      accounts: [writable(account)],
      data: Buffer.concat([numbers([32, 6n]), base58.decode(authority)]),
    },
  ];

  async function upkeep(instructions: readonly Instruction[], slot: string | null = null) {
    const { id } = await commit(test.database, { network: 'SOLANA', lane, slot, purpose: 'UPKEEP' });
    const empty = setTransactionMessageFeePayer(
      address(lane),
      createTransactionMessage({ version: 'legacy' }),
    );
    const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n };
    const living = setTransactionMessageLifetimeUsingBlockhash(lifetime, empty);
    const { messageBytes } = compileTransaction(appendTransactionMessageInstructions(instructions, living));
    return tested.codeFor('SOLANA', id, Buffer.from(messageBytes).toString('hex'));
  }

  it('creates nonce accounts of the lane, with a recent blockhash', async () => {
    expect(await upkeep(creation(await accountOf(0), seedOf(0), LAMPORTS))).toBeUndefined();
  });

  it('creates no other accounts, none with more than their rent, and none for another authority', async () => {
    expect(await upkeep(creation(await accountOf(0), seedOf(1), LAMPORTS))).toBe('other-payment');
    expect(await upkeep(creation(STRANGER, seedOf(1), LAMPORTS))).toBe('other-payment');
    expect(await upkeep(creation(await accountOf(1), seedOf(1), 5_000_000n))).toBe('other-payment');
    expect(await upkeep(creation(await accountOf(1), seedOf(1), LAMPORTS, STRANGER))).toBe('other-payment');
    expect(await upkeep([transfer(PAYEE, 5n)])).toBe('not-allowed');
  });

  it('is the only purpose that may do without a durable nonce', async () => {
    const payments = [coins(5n)];
    const { id } = await commit(test.database, { network: 'SOLANA', lane, slot: null, payments });
    const bytes = await messageOf([transfer(PAYEE, 5n)], 3, newNonce());
    expect(await tested.codeFor('SOLANA', id, bytes)).toBe('other-slot');
  });
});

describe('the signer refuses on Solana', () => {
  it('another amount, address, token or number of payments', async () => {
    expect(await code({ payments: [coins(5n)], instructions: [transfer(PAYEE, 6n)] })).toBe('other-payment');
    expect(await code({ payments: [coins(5n)], instructions: [transfer(STRANGER, 5n)] })).toBe(
      'other-payment',
    );
    expect(await code({ payments: [coins(5n)], instructions: [] })).toBe('other-payment');
    const twice = [transfer(PAYEE, 5n), transfer(PAYEE, 5n)];
    expect(await code({ payments: [coins(5n)], instructions: twice })).toBe('other-payment');
    expect(await code({ payments: [dollars(5n)], instructions: [tokens(STRANGER, 5n)] })).toBe(
      'other-payment',
    );
    expect(await code({ payments: [dollars(5n)], instructions: [tokens(PAYEE, 5n, STRANGER)] })).toBe(
      'other-payment',
    );
    expect(await code({ payments: [dollars(5n)], instructions: [transfer(PAYEE, 5n)] })).toBe(
      'other-payment',
    );
  });

  it('another nonce account, another value of it, or none', async () => {
    const order = { payments: [coins(5n)], instructions: [transfer(PAYEE, 5n)] };
    expect(await code({ ...order, index: 4 })).toBe('other-slot');
    expect(await code({ ...order, nonce: newNonce() })).toBe('other-slot');
    const { id } = await prepare(order);
    const bytes = Buffer.from(await messageOf(order.instructions, 3, newNonce()), 'hex');
    expect(await tested.codeFor('SOLANA', id, bytes.toString('hex'))).toBe('other-slot');
  });

  it('instructions that no payment needs, and token accounts for others', async () => {
    const payments = [coins(5n)];
    const assign = { programAddress: SYSTEM, accounts: [signer(lane)], data: numbers([32, 1n]) };
    expect(await code({ payments, instructions: [transfer(PAYEE, 5n), assign] })).toBe('other-payment');
    const approve = { ...tokens(PAYEE, 5n), data: numbers([8, 4n], [64, 5n]) };
    expect(await code({ payments, instructions: [transfer(PAYEE, 5n), approve] })).toBe('other-payment');
    const unknown = { programAddress: address(STRANGER), accounts: [signer(lane)], data: Uint8Array.of(1) };
    expect(await code({ payments, instructions: [transfer(PAYEE, 5n), unknown] })).toBe('other-payment');
    expect(await code({ payments, instructions: [createAccount(STRANGER), transfer(PAYEE, 5n)] })).toBe(
      'other-payment',
    );
  });

  it('fees above its bound, counting the rent of new token accounts', async () => {
    const payments = [coins(5n)];
    expect(
      await code({ payments, instructions: [...budget(1_000_000n, 20_000_000n), transfer(PAYEE, 5n)] }),
    ).toBe('fee-too-high');
    const many = Array.from({ length: 5 }, () => createAccount(PAYEE));
    expect(await code({ payments: [dollars(5n)], instructions: [...many, tokens(PAYEE, 5n)] })).toBe(
      'fee-too-high',
    );
  });

  it('bytes that are no message', async () => {
    const { id, bytes } = await prepare({ payments: [coins(5n)], instructions: [transfer(PAYEE, 5n)] });
    for (const one of ['00', `80${bytes}`, `${bytes}00`, bytes.slice(0, -2)])
      expect(await tested.codeFor('SOLANA', id, one)).toBe('unreadable');
  });
});
