import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { Assignment, Coin, Outgoing, Version } from '../driver.ts';
import { type Chain, chainOf, UTXO_NETWORKS } from './chain.ts';
import { coinCost, dustLimit, feeAt, sizeOf } from './fees.ts';
import { addressOf, walletScript, witnessScript } from './script.ts';
import {
  byValue,
  outputsOf,
  paymentFault,
  selectBatch,
  selectCoins,
  selectConsolidation,
  sumOf,
} from './select.ts';
import { cancellationOf, type FeeBounds, firstVersion, nextVersion, writeDetails } from './versions.ts';

const chains = UTXO_NETWORKS.map((network) => chainOf(network, 'main'));
const anyChain = fc.constantFrom(...chains);
const hashOfNumber = (number: number): Buffer => Buffer.alloc(20, number + 1);
const changeScriptOf = (chain: Chain): Uint8Array => walletScript(chain, hashOfNumber(250));

function coinsOf(chain: Chain, values: readonly bigint[]): Coin[] {
  return values.map((units, index) => ({
    txHash: index.toString(16).padStart(64, '0'),
    output: index % 3,
    units,
    address: addressOf(chain, walletScript(chain, hashOfNumber(index % 200)))!,
    path: `0/${index}`,
    height: 1,
  }));
}

function paymentsOf(chain: Chain, values: readonly bigint[]): Outgoing[] {
  const address = addressOf(chain, walletScript(chain, hashOfNumber(1)))!;
  return values.map((units, index) => ({ key: `payment-${index}`, asset: chain.asset, units, address }));
}

const anyUnits = fc.bigInt({ min: 1n, max: 10_000_000n });
const anyWorld = fc.record({
  chain: anyChain,
  coins: fc.array(anyUnits, { maxLength: 150 }),
  payments: fc.array(anyUnits, { minLength: 1, maxLength: 120 }),
  rate: fc.bigInt({ min: 1_000n, max: 200_000n }),
});

function fundsOf(chain: Chain, coins: readonly Coin[], rate: bigint) {
  return { chain, coins, rate, roomRate: rate * 2n, changeScript: changeScriptOf(chain) };
}

describe('the selection of coins', () => {
  it('spends what it pays: coins are payments, change and fee, and the fee is at least the rate', () => {
    fc.assert(
      fc.property(anyWorld, ({ chain, coins, payments, rate }) => {
        const sorted = coinsOf(chain, coins).toSorted(byValue);
        const found = selectBatch(fundsOf(chain, sorted, rate), paymentsOf(chain, payments));
        if (found === undefined) return;
        const scripts = outputsOf(chain, found.payments).map(({ script }) => script);
        const outputs = found.changeUnits > 0n ? [...scripts, changeScriptOf(chain)] : scripts;
        expect(sumOf(found.coins)).toBe(sumOf(found.payments) + found.changeUnits + found.feeUnits);
        expect(found.size).toBe(sizeOf(chain, found.coins.length, outputs));
        expect(found.feeUnits).toBeGreaterThanOrEqual(feeAt(rate, found.size));
        // Never dust, and never more given away than a change output would have cost.
        const cost = dustLimit(chain, changeScriptOf(chain)) + feeAt(rate, 34n);
        if (found.changeUnits > 0n)
          expect(found.changeUnits).toBeGreaterThanOrEqual(dustLimit(chain, changeScriptOf(chain)));
        else expect(found.feeUnits).toBeLessThan(feeAt(rate, found.size) + cost + 1n);
        expect(found.coins.length).toBeLessThanOrEqual(UTXO_LIMITS.coinsMax);
        expect(found.payments.length).toBeLessThanOrEqual(UTXO_LIMITS.paymentsMax);
        expect(new Set(found.coins).size).toBe(found.coins.length);
        for (const coin of found.coins) expect(coin.units).toBeGreaterThan(coinCost(chain, rate));
        for (const payment of found.payments) expect(paymentFault(chain, payment)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('finds coins whenever the largest ones suffice', () => {
    fc.assert(
      fc.property(anyWorld, ({ chain, coins, payments, rate }) => {
        const funds = fundsOf(chain, coinsOf(chain, coins).toSorted(byValue), rate);
        const outputs = outputsOf(chain, paymentsOf(chain, payments));
        const worthy = funds.coins
          .filter(({ units }) => units > coinCost(chain, rate))
          .slice(0, UTXO_LIMITS.coinsMax);
        const needed =
          sumOf(outputs) +
          feeAt(
            rate,
            sizeOf(
              chain,
              worthy.length,
              outputs.map(({ script }) => script),
            ),
          );
        expect(selectCoins(funds, outputs) !== undefined).toBe(worthy.length > 0 && sumOf(worthy) >= needed);
      }),
      { numRuns: 300 },
    );
  });

  it('leaves room for a higher fee if there are coins for it', () => {
    const chain = chains[0]!;
    const coins = coinsOf(chain, [100_000n, 90_000n]);
    const outputs = outputsOf(chain, paymentsOf(chain, [99_000n]));
    const funds = { ...fundsOf(chain, coins, 1_000n), roomRate: 50_000n };
    expect(selectCoins(funds, outputs)!.coins).toHaveLength(2);
    expect(selectCoins({ ...funds, coins: coins.slice(0, 1) }, outputs)!.coins).toHaveLength(1);
  });

  it('does not let a payment that is too large hold up the others', () => {
    const chain = chains[0]!;
    const payments = paymentsOf(chain, [50_000n, 10_000_000n, 20_000n]);
    const found = selectBatch(fundsOf(chain, coinsOf(chain, [100_000n]), 1_000n), payments)!;
    expect(found.payments.map(({ key }) => key)).toEqual(['payment-0', 'payment-2']);
  });

  it('joins small coins, and leaves the largest ones for payments', () => {
    const chain = chains[0]!;
    const coins = coinsOf(
      chain,
      Array.from({ length: 70 }, (_, index) => (index < 10 ? 1_000_000n : 5_000n)),
    );
    const found = selectConsolidation(fundsOf(chain, coins, 1_000n))!;
    expect(found.coins).toHaveLength(60);
    expect(found.changeUnits + found.feeUnits).toBe(300_000n);
    expect(selectConsolidation(fundsOf(chain, coins.slice(0, 20), 1_000n))).toBeUndefined();
  });
});

describe('dust', () => {
  it('has the limits that the nodes of each network document', () => {
    const [bitcoin, litecoin, cash] = chains as [Chain, Chain, Chain];
    const taproot = witnessScript(1, Buffer.alloc(32, 1));
    const keyHash = walletScript(cash, hashOfNumber(1));
    expect(dustLimit(bitcoin, keyHash)).toBe(546n);
    expect(dustLimit(bitcoin, changeScriptOf(bitcoin))).toBe(294n);
    expect(dustLimit(bitcoin, taproot)).toBe(330n);
    expect(dustLimit(litecoin, keyHash)).toBe(5_460n);
    expect(dustLimit(litecoin, changeScriptOf(litecoin))).toBe(2_940n);
    expect(dustLimit(cash, keyHash)).toBe(546n);
  });

  it('is a payment that can never be made, and the fault says how much could', () => {
    const [payment] = paymentsOf(chains[0]!, [293n]);
    expect(paymentFault(chains[0]!, payment!)).toBe(
      'is 0.00000293 BTC, nodes of BITCOIN relay at least 0.00000294 BTC to this address',
    );
    expect(paymentFault(chains[0]!, { ...payment!, units: 294n })).toBeUndefined();
    expect(paymentFault(chains[1]!, { ...payment!, asset: 'LTC' })).toMatch(/is no address of LITECOIN/);
  });
});

const BOUNDS: FeeBounds = { minRate: 1_000n, maxRate: 100_000n, incrementRate: 1_000n };

describe('versions of an assignment', () => {
  const assignmentOf = (chain: Chain, coins: readonly Coin[], payments: readonly Outgoing[]): Assignment => ({
    id: 'assignment',
    lane: 'wallet',
    assignedAtMs: 0,
    purpose: 'PAYMENTS',
    slot: null,
    coins,
    payments,
    details: writeDetails({
      changePath: '1/0',
      changeAddress: addressOf(chain, changeScriptOf(chain))!,
      fromHeight: 1,
      fromHash: '',
      ancestors: [],
      ancestorsSize: 0n,
      ancestorsFeeUnits: 0n,
      replacedFeeUnits: 0n,
    }),
  });

  it('pay more each time by what nodes ask for, up to the bound, and never take from the payments', () => {
    fc.assert(
      fc.property(
        anyWorld,
        fc.array(fc.bigInt({ min: 1_000n, max: 100_000n }), { maxLength: 12 }),
        (world, rates) => {
          const { chain, payments, rate } = world;
          const coins = coinsOf(chain, world.coins).toSorted(byValue);
          const found = selectBatch(fundsOf(chain, coins, rate), paymentsOf(chain, payments));
          if (found === undefined) return;
          const assignment = assignmentOf(chain, found.coins, found.payments);
          const leftUnits = sumOf(found.coins) - sumOf(found.payments);
          const first = firstVersion(chain, assignment, rate, BOUNDS)!;
          expect(first.feeUnits).toBe(found.feeUnits);
          const versions: Version[] = [];
          let last = first;
          for (const next of rates) {
            versions.push({
              hash: '',
              bytes: '',
              number: 1,
              signedAtMs: 0,
              feeUnitsMax: last.feeUnits,
              feeRate: last.rate,
            });
            const version = nextVersion(chain, assignment, versions, next, BOUNDS);
            if (version === undefined) continue;
            expect(version.feeUnits).toBeGreaterThanOrEqual(
              last.feeUnits + feeAt(BOUNDS.incrementRate, version.size),
            );
            expect(version.feeUnits + version.changeUnits).toBe(leftUnits);
            if (version.changeUnits > 0n)
              expect(version.feeUnits).toBeLessThanOrEqual(feeAt(BOUNDS.maxRate, version.size));
            last = version;
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('are paid at a lower rate if fees rise beyond the coins before the first of them is signed', () => {
    const chain = chains[0]!;
    const assignment = assignmentOf(chain, coinsOf(chain, [100_000n]), paymentsOf(chain, [99_000n]));
    const first = firstVersion(chain, assignment, 90_000n, BOUNDS)!;
    expect(first.feeUnits).toBeLessThanOrEqual(1_000n);
    expect(first.rate).toBeGreaterThanOrEqual(1_000n);
  });

  it('lift their unconfirmed ancestors to their own rate', () => {
    const chain = chains[0]!;
    const plain = assignmentOf(chain, coinsOf(chain, [1_000_000n]), paymentsOf(chain, [9_000n]));
    const details = { ...plain.details, ancestorsSize: '200', ancestorsFeeUnits: '200' };
    const alone = firstVersion(chain, plain, 10_000n, BOUNDS)!;
    const lifting = firstVersion(chain, { ...plain, details }, 10_000n, BOUNDS)!;
    expect(lifting.feeUnits - alone.feeUnits).toBe(1_800n);
  });

  it('are replaced by a cancellation that pays more and returns everything', () => {
    const chain = chains[0]!;
    const assignment = assignmentOf(chain, coinsOf(chain, [100_000n]), paymentsOf(chain, [50_000n]));
    const version = { hash: '', bytes: '', number: 1, signedAtMs: 0, feeUnitsMax: 5_000n, feeRate: 1n };
    const draft = cancellationOf(assignment, [version]);
    const first = firstVersion(chain, { ...assignment, ...draft }, 1_000n, BOUNDS)!;
    expect(first.feeUnits).toBe(5_000n + feeAt(1_000n, first.size));
    expect(first.feeUnits + first.changeUnits).toBe(100_000n);
  });
});
