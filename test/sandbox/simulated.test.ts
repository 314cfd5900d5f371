import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import type { Payment } from '../../src/rails/rail.ts';
import { isChain, railFacts } from '../../src/sandbox/facts.ts';
import { BEHAVIOURS, createSteering, STEERINGS } from '../../src/sandbox/steering.ts';
import { describeRail } from '../rails/contract.ts';
import { deriveAddress } from '../support/networks.ts';
import { createWorld, type World } from '../support/payouts.ts';

const { addressFault, cryptoNetworks } = NETWORKS;
const behaviourOf = createSteering(NETWORKS);

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
// Its payments were requested without withdrawals.
afterAll(() => world.drop(ENTRY_CHECKS));

const MEMOS = {
  good: null,
  refused: 'sandbox:refuse',
  unanswered: 'sandbox:timeout',
  lost: 'sandbox:lost',
} as const;

for (const facts of railFacts(NETWORKS)) {
  const { name } = facts;
  describeRail(name, {
    rail: () => world.simulated.find(name)!,
    payment: (kind, key): Payment => ({
      key,
      asset: isChain(facts) ? 'ANY' : 'USD',
      amountUnits: 12_345n,
      amount: '123.45',
      memo: MEMOS[kind],
      destination: isChain(facts)
        ? { address: deriveAddress(facts.name, 'somebody') }
        : { instructions: { [name]: {} }, owner: {} },
    }),
    async record(key) {
      const entries = await world.paymentsOf(key);
      const requests = entries.reduce((sum, entry) => sum + entry.requests, 0);
      return { requests, payments: entries.filter((entry) => entry.requests > 0).length };
    },
    pass: (milliseconds) => world.advance(milliseconds),
  });
}

describe('steering', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8');
  const nothing = { memo: null, destination: { instructions: {}, owner: {} } };

  it.each(STEERINGS)('%s is triggered by memo, amount and address as docs/sandbox.md says', (name) => {
    expect(behaviourOf({ ...nothing, amount: '1', memo: `sandbox:${name}` })).toBe(name);
    expect(page).toContain(`\`sandbox:${name}\``);
    const { digits, does } = BEHAVIOURS[name];
    expect(page).toContain(`| ${does} `);
    if (digits !== undefined) {
      for (const amount of [
        digits,
        `${digits}000`,
        `0.00${digits}`,
        `${digits.slice(0, 3)}.${digits.slice(3)}`,
      ]) {
        expect(behaviourOf({ ...nothing, amount })).toBe(name);
      }
      expect(page).toContain(`\`${digits.slice(0, 3)}.${digits.slice(3)}\``);
    }
    for (const network of cryptoNetworks) {
      const address = deriveAddress(network, name);
      expect(addressFault(network, address)).toBeUndefined();
      expect(behaviourOf({ ...nothing, amount: '1', destination: { address } })).toBe(name);
      expect(page).toContain(`\`${address}\``);
    }
  });

  it('affects nothing else', () => {
    for (const amount of ['666', '100', '66610', '166601', '66601.5']) {
      expect(behaviourOf({ ...nothing, amount })).toBe('pay');
    }
    for (const memo of ['sandbox:', 'sandbox:nonsense', 'refuse', 'sandbox:toString']) {
      expect(behaviourOf({ ...nothing, amount: '1', memo })).toBe('pay');
    }
  });
});

describe('derived addresses', () => {
  it.each(cryptoNetworks)(
    'of %s pass its own check, whatever they are derived from',
    (network: CryptoNetwork) => {
      for (let index = 0; index < 300; index += 1) {
        expect(addressFault(network, deriveAddress(network, `text ${index}`))).toBeUndefined();
      }
    },
  );
});
