import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { computeLimit, marketPrice, nextPrice, priorityLamports } from './fees.ts';
import { nodeBackOffMs } from './nodes.ts';
import { parseAnswer } from './rpc.ts';
import { type BlockTransaction, receivedIn } from './scan.ts';
import { failureReason, networkCost, type RawTransaction, usesNonce } from './transactions.ts';

const POLICY = { priceMin: 1_000n, priceMax: 1_000_000n, percentile: 75 };
const price = fc.bigInt({ min: 0n, max: 10n ** 12n });

describe('the price of a compute unit', () => {
  it('stays within its bounds, whatever the market asks', () => {
    fc.assert(
      fc.property(fc.array(price), fc.option(price, { nil: undefined }), (recent, last) => {
        const market = marketPrice(recent, POLICY);
        expect(market >= POLICY.priceMin && market <= POLICY.priceMax).toBe(true);
        const next = nextPrice(market, last, POLICY);
        if (next === undefined || last === undefined) return;
        expect(next > last && next <= POLICY.priceMax).toBe(true);
      }),
    );
  });

  it('is the configured percentile of recent prices', () => {
    const recent = Array.from({ length: 100 }, (_, index) => BigInt((index + 1) * 1_000));
    expect(marketPrice(recent, POLICY)).toBe(75_000n);
    expect(marketPrice([], POLICY)).toBe(1_000n);
  });

  it('leads to a bounded number of versions in a market that rises without end', () => {
    let last = POLICY.priceMin;
    let versions = 1;
    for (let next = nextPrice(last + 1n, last, POLICY); next !== undefined; versions += 1) {
      last = next;
      next = nextPrice(last + 1n, last, POLICY);
    }
    expect(last).toBe(POLICY.priceMax);
    expect(versions).toBeLessThan(40);
  });

  it('is rounded up, as the network does', () => {
    expect(priorityLamports(1, 1n)).toBe(1n);
    expect(priorityLamports(200_000, 1_000n)).toBe(200n);
    expect(computeLimit(10_000, 1_400_000)).toBe(13_000);
    expect(computeLimit(1_400_000, 1_400_000)).toBe(1_400_000);
  });
});

describe('answers of nodes', () => {
  it('keep integers that a JavaScript number cannot hold', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const { result } = parseAnswer(`{"result":[1, ${value}],"text":"${value}"}`) as {
          result: (number | bigint)[];
        };
        expect(BigInt(result[1]!)).toBe(value);
      }),
    );
  });

  it('that fail put a node behind the others for longer each time', () => {
    expect([1, 2, 3].map(nodeBackOffMs)).toEqual([1_000, 2_000, 4_000]);
    expect(nodeBackOffMs(100)).toBe(LIMITS.solanaNodeBackOffMaxMs);
  });
});

const raw = (overrides: {
  err?: unknown;
  lifetime?: string;
  data?: string;
  pre?: (number | bigint)[];
  post?: (number | bigint)[];
}): RawTransaction => ({
  slot: 1,
  meta: {
    err: overrides.err ?? null,
    fee: 5_000,
    preBalances: overrides.pre ?? [],
    postBalances: overrides.post ?? [],
  },
  transaction: {
    message: {
      accountKeys: ['lane', 'nonce', '11111111111111111111111111111111', 'payee'],
      recentBlockhash: overrides.lifetime ?? 'recent',
      instructions: [{ programIdIndex: 2, accounts: [1, 0], data: overrides.data ?? '' }],
    },
  },
});

describe('a transaction', () => {
  const encoded = (...bytes: number[]): string => base58.encode(Uint8Array.from(bytes));
  /** Instructions of the System program. */
  const ADVANCE = encoded(4, 0, 0, 0);
  const WITHDRAW = encoded(5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
  const TRANSFER = encoded(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);

  it('has used a nonce if it lived by it, or ended its value with success', () => {
    expect(usesNonce(raw({ lifetime: 'value', err: 'failed' }), 'nonce', 'value')).toBe(true);
    expect(usesNonce(raw({ data: ADVANCE }), 'nonce', 'value')).toBe(true);
    expect(usesNonce(raw({ data: WITHDRAW }), 'nonce', 'value')).toBe(true);
    expect(usesNonce(raw({ data: ADVANCE, err: 'failed' }), 'nonce', 'value')).toBe(false);
    expect(usesNonce(raw({ data: ADVANCE }), 'another', 'value')).toBe(false);
    expect(usesNonce(raw({ data: TRANSFER }), 'nonce', 'value')).toBe(false);
  });

  it('costs what left our addresses and was not paid to a recipient', () => {
    const payments = [{ key: 'k', asset: 'SOL', units: 100n, address: 'payee' }];
    const assignment = { purpose: 'PAYMENTS', lane: 'lane', payments, details: {} } as const;
    const balances = { pre: [10n ** 17n, 0, 0, 0], post: [10n ** 17n - 7_139n, 0, 0, 100] };
    expect(networkCost(raw(balances), assignment, 'SOL')).toBe(7_039n);
    const failed = { err: 'failed', pre: [9_000, 0, 0, 0], post: [4_000, 0, 0, 0] };
    expect(networkCost(raw(failed), assignment, 'SOL')).toBe(5_000n);
    const own = { ...assignment, payments: [{ ...payments[0]!, address: 'lane' }] };
    expect(networkCost(raw({ pre: [9_000, 0, 0, 0], post: [4_000, 0, 0, 0] }), own, 'SOL')).toBe(5_000n);
  });

  it('that failed has a reason in plain words', () => {
    const reasonOf = (err: unknown): string =>
      failureReason(err).replace('The network rejected the payment: ', '');
    expect(reasonOf({ InstructionError: [3, { Custom: 1 }] })).toBe(
      'the wallet did not have enough of the asset.',
    );
    expect(reasonOf({ InstructionError: [3, { Custom: 17 }] })).toBe(
      'the token account of the recipient is frozen.',
    );
    expect(reasonOf({ InsufficientFundsForRent: { account_index: 1 } })).toBe(
      'the amount is less than the address must hold.',
    );
    expect(reasonOf({ InstructionError: [3, 'MissingRequiredSignature'] })).toBe('MissingRequiredSignature.');
    expect(reasonOf('AccountNotFound')).toBe('AccountNotFound.');
  });
});

describe('what our addresses receive', () => {
  const keys = ['a', 'b', 'c', 'd'];
  const amounts = fc.array(fc.bigInt({ min: 0n, max: 2n ** 63n }), { minLength: 4, maxLength: 4 });
  const balances = fc.array(
    fc.record({
      owner: fc.constantFrom(...keys),
      mint: fc.constantFrom('m', 'n'),
      units: fc.bigInt({ min: 0n, max: 10n ** 18n }),
    }),
    { maxLength: 6 },
  );
  type Balance = { owner: string; mint: string; units: bigint };
  const tokens = (list: readonly Balance[]) =>
    list.map(({ owner, mint, units }, accountIndex) => ({
      accountIndex,
      owner,
      mint,
      uiTokenAmount: { amount: units.toString() },
    }));
  const settings = { native: 'SOL', tokens: [{ asset: 'USDC', mint: 'm', decimals: 6 }] };
  const transaction = (
    pre: bigint[],
    post: bigint[],
    before: Balance[],
    after: Balance[],
    err: unknown = null,
  ): BlockTransaction => ({
    meta: {
      err,
      preBalances: pre,
      postBalances: post,
      preTokenBalances: tokens(before),
      postTokenBalances: tokens(after),
    },
    transaction: { accountKeys: keys.map((pubkey) => ({ pubkey })), signatures: ['hash'] },
  });

  it('is the growth of each balance, once for each asset and address, and nothing if the transaction failed', () => {
    fc.assert(
      fc.property(amounts, amounts, balances, balances, (pre, post, before, after) => {
        const isOurs = (address: string): boolean => address === 'a' || address === 'b';
        const found = receivedIn(transaction(pre, post, before, after), isOurs, settings);
        const sum = (list: readonly Balance[], owner: string, mint: string): bigint =>
          list
            .filter((one) => one.owner === owner && one.mint === mint)
            .reduce((total, one) => total + one.units, 0n);
        for (const [place, address] of keys.entries()) {
          const gains = [
            ['SOL', post[place]! - pre[place]!],
            ['USDC', sum(after, address, 'm') - sum(before, address, 'm')],
            ['n', sum(after, address, 'n') - sum(before, address, 'n')],
          ] as const;
          for (const [asset, gain] of gains) {
            const rows = found.filter((one) => one.address === address && one.asset === asset);
            expect(rows.map(({ units }) => units)).toEqual(isOurs(address) && gain > 0n ? [gain] : []);
          }
        }
        expect(receivedIn(transaction(pre, post, before, after, 'failed'), isOurs, settings)).toEqual([]);
      }),
    );
  });
});
