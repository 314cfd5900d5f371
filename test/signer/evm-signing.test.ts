import { parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/networks/register.ts';
import { createEmbeddedSigner } from '../../src/signer/embedded.ts';
import { createTestDatabase, type TestDatabase, unguarded } from '../support/database.ts';
import { coinBytes, LANE, PAYEE, SECOND_LANE, tokenBytes } from './evm-bytes.ts';
import {
  COLD,
  commit,
  makeDirectory,
  openTestSigner,
  POLICY,
  removeDirectory,
  type TestSigner,
  USDC,
  withNetwork,
} from './support.ts';

let test: TestDatabase;
let tested: TestSigner;
const directory = makeDirectory();
let slot = 0;
const ETHER = 10n ** 18n;
const STRANGER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

beforeAll(async () => {
  test = await createTestDatabase();
  tested = await openTestSigner(test.database, { directory });
});

afterAll(async () => {
  await tested.close();
  await test.drop();
  removeDirectory(directory);
});

const pay = async (units = ETHER, asset = 'ETH', address = PAYEE) => {
  slot += 1;
  const order = {
    network: 'ETHEREUM',
    lane: LANE,
    slot: String(slot),
    payments: [{ asset, units, address }],
  } as const;
  return { ...(await commit(test.database, order)), nonce: slot };
};
const codeFor = (id: string, bytes: string): Promise<string | undefined> =>
  tested.codeFor('ETHEREUM', id, bytes);

describe('the signer signs on EVM networks', () => {
  it('a payment in the coin of the network, with the key of the lane', async () => {
    const { id, nonce } = await pay();
    const bytes = coinBytes(PAYEE, ETHER, nonce);
    const [signature] = await tested.ask('ETHEREUM', id, bytes);
    expect(signature).toMatch(/^[0-9a-f]{128}0[01]$/);
    const hex = (from: number, to: number) => `0x${signature!.slice(from, to)}` as const;
    const serializedTransaction = serializeTransaction(parseTransaction(bytes as '0x02'), {
      r: hex(0, 64),
      s: hex(64, 128),
      yParity: Number(hex(128, 130)),
    });
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(LANE);
  });

  it('a payment in a token', async () => {
    const { id, nonce } = await pay(5_000_000n, 'USDC');
    expect(await codeFor(id, tokenBytes(USDC, PAYEE, 5_000_000n, nonce))).toBeUndefined();
  });

  it('a second version of the same payment, with a higher fee', async () => {
    const { id, nonce } = await pay();
    expect(await codeFor(id, coinBytes(PAYEE, ETHER, nonce))).toBeUndefined();
    expect(
      await codeFor(id, coinBytes(PAYEE, ETHER, nonce, { maxFeePerGas: 60_000_000_000n })),
    ).toBeUndefined();
  });

  it('the same bytes again, with the same signature', async () => {
    const { id, nonce } = await pay();
    const bytes = coinBytes(PAYEE, ETHER, nonce);
    expect(await tested.ask('ETHEREUM', id, bytes)).toEqual(await tested.ask('ETHEREUM', id, bytes));
  });

  it('from a second lane', async () => {
    const payments = [{ asset: 'ETH', units: 1n, address: PAYEE }];
    const { id } = await commit(test.database, {
      network: 'ETHEREUM',
      lane: SECOND_LANE,
      slot: '7',
      payments,
    });
    expect(await codeFor(id, coinBytes(PAYEE, 1n, 7))).toBeUndefined();
  });

  it('a cancellation, which pays nothing to the lane itself', async () => {
    const { id } = await commit(test.database, {
      network: 'ETHEREUM',
      lane: LANE,
      slot: '9001',
      purpose: 'CANCELLATION',
    });
    expect(await codeFor(id, coinBytes(LANE, 1n, 9001))).toBe('other-payment');
    expect(await codeFor(id, coinBytes(LANE, 0n, 9001))).toBeUndefined();
  });

  it('to the configured cold address, and to no other one', async () => {
    const { id } = await commit(test.database, {
      network: 'ETHEREUM',
      lane: LANE,
      slot: '9002',
      purpose: 'TO_COLD',
    });
    expect(await codeFor(id, coinBytes(STRANGER, ETHER, 9002))).toBe('not-allowed');
    expect(await codeFor(id, tokenBytes(USDC, STRANGER, 5n, 9002))).toBe('not-allowed');
    expect(await codeFor(id, tokenBytes(USDC, COLD, 5n, 9002))).toBeUndefined();
    expect(await codeFor(id, coinBytes(COLD, ETHER, 9002))).toBeUndefined();
  });

  it('a sweep of a deposit address to a lane, and to nobody else', async () => {
    // m/44'/60'/0'/1/5 of the same words, from another wallet library.
    const { mnemonicToAccount } = await import('viem/accounts');
    const words = `${'abandon '.repeat(11)}about`;
    const lane = mnemonicToAccount(words, { changeIndex: 1, addressIndex: 5 }).address;
    const order = {
      network: 'ETHEREUM',
      lane,
      slot: '0',
      purpose: 'SWEEP',
      details: { path: '1/5' },
    } as const;
    const { id } = await commit(test.database, order);
    expect(await codeFor(id, coinBytes(STRANGER, ETHER, 0))).toBe('not-allowed');
    expect(await codeFor(id, coinBytes(LANE, ETHER, 0))).toBeUndefined();
    const { address: spare } = mnemonicToAccount(words, { changeIndex: 0, addressIndex: 7 });
    const others = [
      { lane, details: { path: '1/6' } },
      { lane, details: {} },
      { lane: spare, details: { path: '0/7' } },
      { lane: LANE, details: { path: '1/5' } },
    ];
    for (const [index, other] of others.entries()) {
      const nonce = 9_100 + index;
      const refused = await commit(test.database, { ...order, ...other, slot: String(nonce) });
      expect(await codeFor(refused.id, coinBytes(LANE, ETHER, nonce))).toBe('other-lane');
    }
  });
});

describe('the signer that is embedded in the sandbox', () => {
  it('decides by the same rules', async () => {
    const { database } = test;
    const seed = Buffer.alloc(64, 3);
    const signer = await createEmbeddedSigner({ database, networks: NETWORKS, policy: POLICY, seed });
    const signal = new AbortController().signal;
    const [own] = (await signer.account('ETHEREUM', signal)).lanes;
    const payments = [{ asset: 'ETH', units: 1n, address: PAYEE }];
    const { id } = await commit(database, { network: 'ETHEREUM', lane: own!, slot: '0', payments });
    const request = { network: 'ETHEREUM', assignmentId: id, version: 1 } as const;
    const wrong = { ...request, requestId: 'first', unsigned: coinBytes(PAYEE, 2n, 0) };
    await expect(signer.sign(wrong, signal)).rejects.toMatchObject({ code: 'other-payment' });
    const right = { ...request, requestId: 'second', unsigned: coinBytes(PAYEE, 1n, 0) };
    expect(await signer.sign(right, signal)).toHaveLength(1);
    await expect(signer.sign(right, signal)).rejects.toMatchObject({ code: 'replayed' });
  });
});

describe('the signer refuses on EVM networks', () => {
  it('an assignment that is not committed, or of another network', async () => {
    const { id, nonce } = await pay();
    const bytes = coinBytes(PAYEE, ETHER, nonce);
    expect(await codeFor('0193f5a0-0000-7000-8000-000000000000', bytes)).toBe('unknown-assignment');
    expect(await tested.codeFor('BITCOIN', id, bytes)).toBe('unknown-assignment');
    expect(await tested.codeFor('BASE', id, bytes)).toBe('not-allowed');
  });

  it('an assignment that has ended', async () => {
    const { id, nonce } = await pay();
    await test.database.query(`update chain_assignments set state = 'SUPERSEDED' where id = $1`, [id]);
    expect(await codeFor(id, coinBytes(PAYEE, ETHER, nonce))).toBe('unknown-assignment');
  });

  it('another amount, another address, another asset, another contract', async () => {
    const { id, nonce } = await pay();
    expect(await codeFor(id, coinBytes(PAYEE, ETHER + 1n, nonce))).toBe('other-payment');
    expect(await codeFor(id, coinBytes(STRANGER, ETHER, nonce))).toBe('other-payment');
    expect(await codeFor(id, tokenBytes(USDC, PAYEE, ETHER, nonce))).toBe('other-payment');
    expect(await codeFor(id, tokenBytes(STRANGER, PAYEE, ETHER, nonce))).toBe('other-payment');
    // Back to the lane, under the name of a payment.
    expect(await codeFor(id, coinBytes(LANE, ETHER, nonce))).toBe('other-payment');
  });

  it('a token call that is something else, or that also pays coins', async () => {
    const { id, nonce } = await pay(5n, 'USDC');
    const approve =
      `0x095ea7b3${'0'.repeat(24)}${PAYEE.slice(2).toLowerCase()}${'5'.padStart(64, '0')}` as const;
    expect(await codeFor(id, coinBytes(USDC, 0n, nonce, { data: approve }))).toBe('other-payment');
    expect(await codeFor(id, tokenBytes(USDC, PAYEE, 5n, nonce, { value: 1n }))).toBe('other-payment');
    expect(await codeFor(id, tokenBytes(USDC, PAYEE, 6n, nonce))).toBe('other-payment');
  });

  it('another nonce, another chain, and a lane that is not its own', async () => {
    const { id, nonce } = await pay();
    expect(await codeFor(id, coinBytes(PAYEE, ETHER, nonce + 1))).toBe('other-slot');
    expect(await codeFor(id, coinBytes(PAYEE, ETHER, nonce, { chainId: 8453 }))).toBe('other-chain');
    const payments = [{ asset: 'ETH', units: 1n, address: PAYEE }];
    const foreign = await commit(test.database, { network: 'ETHEREUM', lane: STRANGER, slot: '0', payments });
    expect(await codeFor(foreign.id, coinBytes(PAYEE, 1n, 0))).toBe('other-lane');
  });

  it('a fee above its own bound', async () => {
    const { id, nonce } = await pay();
    expect(await codeFor(id, coinBytes(PAYEE, ETHER, nonce, { gas: 10_000_000n }))).toBe('fee-too-high');
  });

  it('bytes that are no unsigned EIP-1559 transaction, or say more than a payment', async () => {
    const { id, nonce } = await pay();
    const bytes = coinBytes(PAYEE, ETHER, nonce);
    const signed = serializeTransaction(parseTransaction(bytes as '0x02'), {
      r: '0x1',
      s: '0x1',
      yParity: 0,
    });
    const legacy = serializeTransaction({
      type: 'legacy',
      chainId: 1,
      nonce,
      to: PAYEE,
      value: ETHER,
      gasPrice: 1n,
    });
    for (const one of ['00', `${bytes}00`, signed, legacy]) expect(await codeFor(id, one)).toBe('unreadable');
    const accessList = [{ address: PAYEE, storageKeys: [] }] as const;
    expect(await codeFor(id, coinBytes(PAYEE, ETHER, nonce, { accessList }))).toBe('other-payment');
    await expect(tested.ask('ETHEREUM', id, 'xyz')).rejects.toThrow('unsigned must be hex.');
    await expect(tested.ask('ETHEREUM', 'x', bytes)).rejects.toThrow('assignmentId must be a UUID.');
  });

  it('a payment whose transfer says something else, is not pending, or does not exist', async () => {
    const { query } = unguarded(test.database);
    const changes = [
      `update transfers set amount_units = 5, balance_units = 5`,
      `update transfers set asset = 'USDC', balance_asset = 'USDC'`,
      `update transfers set destination_address = '${STRANGER}'`,
      `update transfers set crypto_network = 'BASE'`,
      `update transfers set status = 'COMPLETED'`,
      `update transfers set status = 'FAILED'`,
      `update transfers set type = 'CRYPTO_DEPOSIT'`,
      `update transfers set direction = 'CREDIT'`,
      `delete from transfers`,
    ];
    for (const change of changes) {
      const { id, keys, nonce } = await pay();
      await query(`${change} where id = $1`, [keys[0]!]);
      expect([change, await codeFor(id, coinBytes(PAYEE, ETHER, nonce))]).toEqual([change, 'other-payment']);
    }
    for (const change of [
      `state = 'COMPLETED', detail = ''`,
      `units = 5`,
      `asset = 'USDC'`,
      `rail = 'BASE'`,
    ]) {
      const { id, keys, nonce } = await pay();
      await query(`update rail_payments set ${change} where key = $1`, [keys[0]!]);
      expect([change, await codeFor(id, coinBytes(PAYEE, ETHER, nonce))]).toEqual([change, 'other-payment']);
    }
    const { id, nonce } = await pay();
    await query(`update chain_assignment_payments set active = false where assignment_id = $1`, [id]);
    expect(await codeFor(id, coinBytes(PAYEE, ETHER, nonce))).toBe('other-payment');
  });

  it('a destination that is not on its allow-list', async () => {
    const other = makeDirectory();
    const policy = withNetwork('ETHEREUM', { destinations: new Set([PAYEE]) });
    const strict = await openTestSigner(test.database, { directory: other, policy });
    const allowed = await pay();
    const refused = await pay(ETHER, 'ETH', STRANGER);
    expect(await strict.codeFor('ETHEREUM', refused.id, coinBytes(STRANGER, ETHER, refused.nonce))).toBe(
      'not-allowed',
    );
    expect(
      await strict.codeFor('ETHEREUM', allowed.id, coinBytes(PAYEE, ETHER, allowed.nonce)),
    ).toBeUndefined();
    await strict.close();
    removeDirectory(other);
  });

  it('an asset that it does not have', async () => {
    const { id, nonce } = await pay(1n, 'PUSD');
    expect(await codeFor(id, coinBytes(PAYEE, 1n, nonce))).toBe('not-allowed');
    expect(POLICY.networks.get('ETHEREUM')!.assets.has('PUSD')).toBe(false);
  });

  it('a second request with the same id', async () => {
    const { id, nonce } = await pay();
    const bytes = coinBytes(PAYEE, ETHER, nonce);
    expect(await tested.codeFor('ETHEREUM', id, bytes, 'the-same')).toBeUndefined();
    expect(await tested.codeFor('ETHEREUM', id, bytes, 'the-same')).toBe('replayed');
  });
});
