import { generateKeyPairSync, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { type Library, loadLibrary } from './library.ts';
import { compileMessage, nonceAddress, type Transfer, transferInstructions } from './message.ts';
import { formatSlot, parseSlot, readNonceAccount } from './slot.ts';
import {
  readMint,
  readTokenAccount,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  tokenAccountBytes,
} from './tokens.ts';
import { complete, messageOf, readMessage, wireBytes } from './wire.ts';

let library: Library;

beforeAll(async () => {
  library = await loadLibrary();
});

const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes));
const units = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
const memo = fc.uuid();

const transfer: fc.Arbitrary<Transfer> = fc.record({
  memo,
  source: fc.constant(''),
  destination: address,
  units,
  token: fc.option(
    fc.record({
      mint: address,
      program: fc.constantFrom(TOKEN_PROGRAM, TOKEN_2022_PROGRAM),
      decimals: fc.integer({ min: 0, max: 12 }),
      from: address,
      to: address,
      creates: fc.boolean(),
    }),
    { nil: undefined },
  ),
}) as fc.Arbitrary<Transfer>;

const le64 = (data: Uint8Array, at: number): bigint => Buffer.from(data).readBigUInt64LE(at);

describe('a message of Solana', () => {
  it('advances the nonce first, and pays exactly what it was built from', async () => {
    await fc.assert(
      fc.asyncProperty(
        address,
        address,
        fc.array(transfer, { minLength: 1, maxLength: 4 }),
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        async (lane, value, drawn, price) => {
          const transfers = drawn.map((one) => ({ ...one, source: lane }));
          const account = await nonceAddress(library, lane, 3);
          const bytes = compileMessage(
            library,
            { lane, lifetime: { kind: 'nonce', account, value }, computeBudget: 200_000, price },
            transfers.flatMap((one) => transferInstructions(library, lane, one)),
          );
          const { accounts, instructions, lifetime, signatures } = readMessage(bytes);
          expect([accounts[0], signatures, lifetime]).toEqual([lane, 1, value]);
          const [advance, limit, charge, ...rest] = instructions;
          expect([...advance!.data]).toEqual([4, 0, 0, 0]);
          expect([advance!.accounts[0], advance!.accounts[2]].map((index) => accounts[index!])).toEqual([
            account,
            lane,
          ]);
          expect([Buffer.from(limit!.data).readUInt32LE(1), le64(charge!.data, 1)]).toEqual([200_000, price]);
          for (const { memo: text, destination, token, units: paid } of transfers) {
            if (token?.creates === true) expect([...rest.shift()!.data]).toEqual([1]);
            expect(Buffer.from(rest.shift()!.data).toString('utf8')).toBe(text);
            const payment = rest.shift()!;
            const to = accounts[payment.accounts[token === undefined ? 1 : 2]!];
            expect(to).toBe(token?.to ?? destination);
            expect(le64(payment.data, token === undefined ? 4 : 1)).toBe(paid);
          }
          expect(rest).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is refused if it is cut off, has bytes after its end, or a version', async () => {
    const [lane, value] = [
      base58.encode(new Uint8Array(32).fill(7)),
      base58.encode(new Uint8Array(32).fill(9)),
    ];
    const lifetime = { kind: 'nonce', account: await nonceAddress(library, lane, 0), value } as const;
    const bytes = compileMessage(library, { lane, lifetime, computeBudget: 1, price: 1n }, []);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => readMessage(bytes.subarray(0, length))).toThrow('ends too early');
    }
    expect(() => readMessage(Buffer.concat([bytes, Uint8Array.of(0)]))).toThrow('after its end');
    expect(() => readMessage(Buffer.concat([Uint8Array.of(0x80), bytes]))).toThrow('has a version');
  });

  it('becomes a transaction only with the right signatures', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const lane = base58.encode(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
    const lifetime = { kind: 'blockhash', blockhash: lane } as const;
    const message = compileMessage(library, { lane, lifetime, computeBudget: 1, price: 1n }, []);
    const bytes = Buffer.from(message).toString('hex');
    const signature = sign(null, message, privateKey);
    const signed = complete({ bytes }, [signature.toString('hex')]);
    expect(signed.hash).toBe(base58.encode(signature));
    expect(Buffer.from(messageOf(signed.bytes)).toString('hex')).toBe(bytes);
    expect(signed.bytes.length / 2).toBe(wireBytes(message));
    expect(signed.bytes.length / 2).toBeLessThan(LIMITS.solanaTransactionBytesMax);
    const wrong = Buffer.from(signature);
    wrong[5]! ^= 1;
    expect(() => complete({ bytes }, [wrong.toString('hex')])).toThrow('does not fit');
    expect(() => complete({ bytes }, [])).toThrow('needs 1 signatures');
    expect(() => complete({ bytes }, ['00'])).toThrow('does not fit');
  });
});

describe('a slot', () => {
  it('survives a round trip through its text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999 }), address, (index, value) => {
        expect(parseSlot(formatSlot({ index, value }))).toEqual({ index, value });
      }),
    );
  });

  it.each([
    '',
    '7',
    '01:11111111111111111111111111111111',
    '-1:11111111111111111111111111111111',
    '1:0',
    'x:1',
  ])('is refused as "%s"', (text) => expect(() => parseSlot(text)).toThrow('is not a slot'));

  it('is read only from an initialized nonce account', () => {
    const data = Buffer.alloc(80, 3);
    data.writeUInt32LE(1, 0);
    data.writeUInt32LE(1, 4);
    expect(readNonceAccount(data)?.value).toBe(base58.encode(new Uint8Array(32).fill(3)));
    data.writeUInt32LE(0, 4);
    expect(readNonceAccount(data)).toBeUndefined();
    expect(readNonceAccount(Buffer.alloc(0))).toBeUndefined();
  });
});

describe('a mint', () => {
  const mintWith = (extensions: readonly { type: number; data: Uint8Array }[]): Buffer => {
    const base = Buffer.alloc(166);
    base[44] = 6;
    base[45] = 1;
    base[165] = 1;
    const parts = extensions.map(({ type, data }) => {
      const header = Buffer.alloc(4);
      header.writeUInt16LE(type, 0);
      header.writeUInt16LE(data.length, 2);
      return Buffer.concat([header, data]);
    });
    return Buffer.concat([base, ...parts]);
  };

  it('of Token-2022 says how large its accounts are', () => {
    const none = readMint(TOKEN_2022_PROGRAM, mintWith([]))!;
    expect(tokenAccountBytes(none)).toBe(170);
    const fee = readMint(TOKEN_2022_PROGRAM, mintWith([{ type: 1, data: new Uint8Array(108) }]))!;
    expect([tokenAccountBytes(fee), fee.takesFee]).toEqual([182, true]);
    const metadata = readMint(TOKEN_2022_PROGRAM, mintWith([{ type: 18, data: new Uint8Array(64) }]))!;
    expect(tokenAccountBytes(metadata)).toBe(170);
    expect(tokenAccountBytes({ program: TOKEN_PROGRAM, extensions: [] })).toBe(165);
  });

  it('that cannot be transferred, or calls another program, cannot be paid', () => {
    const faultOf = (type: number, data: Uint8Array) =>
      readMint(TOKEN_2022_PROGRAM, mintWith([{ type, data }]))?.fault;
    expect(faultOf(9, new Uint8Array(0))).toContain('cannot be transferred');
    expect(faultOf(14, new Uint8Array(64).fill(1))).toContain('another program');
    expect(faultOf(14, new Uint8Array(64))).toBeUndefined();
  });

  it('and a token account are not confused', () => {
    const account = Buffer.alloc(165);
    account[108] = 1;
    account.writeBigUInt64LE(42n, 64);
    expect(readTokenAccount(TOKEN_PROGRAM, account)?.units).toBe(42n);
    expect(readMint(TOKEN_PROGRAM, account)).toBeUndefined();
    expect(readTokenAccount(TOKEN_2022_PROGRAM, mintWith([]))).toBeUndefined();
    expect(readTokenAccount(base58.encode(new Uint8Array(32)), account)).toBeUndefined();
  });
});
