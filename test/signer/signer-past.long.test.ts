import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import type { Policy } from '../../src/signer/policy.ts';
import { createTestDatabase, type TestDatabase, unguarded } from '../support/database.ts';
import { coinBytes, LANE, PAYEE } from './evm-bytes.ts';
import {
  commit,
  makeDirectory,
  openTestSigner,
  POLICY,
  removeDirectory,
  type TestSigner,
  withNetwork,
} from './support.ts';

/** What the signer knows from its own log: limits, and what it has signed before. */

let test: TestDatabase;
let directory: string;
let clockMs = 1_800_000_000_000;
let slot = 0;
const MINUTE = 60_000;

beforeEach(async () => {
  test = await createTestDatabase();
  directory = makeDirectory();
});
afterEach(async () => {
  await test.drop();
  removeDirectory(directory);
});

const open = (policy: Policy = POLICY): Promise<TestSigner> =>
  openTestSigner(test.database, { directory, policy, nowMs: () => clockMs });

const limited = (
  limits: Partial<{ unitsPerHour: bigint; unitsPerDay: bigint; paymentsPerMinute: number }>,
): Policy => ({
  ...POLICY,
  limits: new Map([...POLICY.limits, ['ETH', { ...POLICY.limits.get('ETH')!, ...limits }]]),
});

async function pay(units: bigint, key?: string) {
  slot += 1;
  const nonce = slot;
  const payments = [{ asset: 'ETH', units, address: PAYEE, ...(key !== undefined && { key }) }];
  const committed = await commit(test.database, {
    network: 'ETHEREUM',
    lane: LANE,
    slot: String(nonce),
    payments,
  });
  return { ...committed, bytes: coinBytes(PAYEE, units, nonce), nonce };
}

/** The code of the answer to a new payment of that amount. */
async function signFor(tested: TestSigner, units: bigint): Promise<string | undefined> {
  const { id, bytes } = await pay(units);
  return tested.codeFor('ETHEREUM', id, bytes);
}

describe('velocity', () => {
  it('limits the payments of an asset per minute', async () => {
    const tested = await open(limited({ paymentsPerMinute: 2 }));
    expect([await signFor(tested, 1n), await signFor(tested, 1n)]).toEqual([undefined, undefined]);
    expect(await signFor(tested, 1n)).toBe('over-velocity');
    clockMs += MINUTE;
    expect(await signFor(tested, 1n)).toBeUndefined();
    await tested.close();
  });

  it('limits the amount per hour and per day, to the unit', async () => {
    const tested = await open(limited({ unitsPerHour: 100n, unitsPerDay: 150n }));
    expect(await signFor(tested, 99n)).toBeUndefined();
    expect(await signFor(tested, 2n)).toBe('over-velocity');
    expect(await signFor(tested, 1n)).toBeUndefined();
    clockMs += 60 * MINUTE;
    expect(await signFor(tested, 51n)).toBe('over-velocity');
    expect(await signFor(tested, 50n)).toBeUndefined();
    clockMs += 23 * 60 * MINUTE;
    expect(await signFor(tested, 100n)).toBeUndefined();
    await tested.close();
  });

  it('counts a payment once, however many versions it has, and even when the limit is reached', async () => {
    const tested = await open(limited({ unitsPerHour: 100n }));
    const { id, bytes, nonce } = await pay(100n);
    expect(await tested.codeFor('ETHEREUM', id, bytes)).toBeUndefined();
    const faster = coinBytes(PAYEE, 100n, nonce, { maxFeePerGas: 40_000_000_000n });
    expect(await tested.codeFor('ETHEREUM', id, faster)).toBeUndefined();
    expect(await signFor(tested, 1n)).toBe('over-velocity');
    await tested.close();
  });

  it('is not reset by a restart, nor by a clock that is set back', async () => {
    const policy = limited({ unitsPerHour: 100n });
    const first = await open(policy);
    expect(await signFor(first, 100n)).toBeUndefined();
    await first.close();
    clockMs -= 2 * 60 * MINUTE;
    const second = await open(policy);
    expect(await signFor(second, 1n)).toBe('over-velocity');
    clockMs += 3 * 60 * MINUTE;
    expect(await signFor(second, 1n)).toBeUndefined();
    await second.close();
  });

  it('limits the fees of a day, of which an assignment counts with its highest one', async () => {
    const fee = 21_000n * 30_000_000_000n;
    const tested = await open(withNetwork('ETHEREUM', { feeUnitsPerDay: 3n * fee }));
    const { id, bytes, nonce } = await pay(1n);
    expect(await tested.codeFor('ETHEREUM', id, bytes)).toBeUndefined();
    const twice = coinBytes(PAYEE, 1n, nonce, { maxFeePerGas: 60_000_000_000n });
    expect(await tested.codeFor('ETHEREUM', id, twice)).toBeUndefined();
    expect(await signFor(tested, 1n)).toBeUndefined();
    expect(await signFor(tested, 1n)).toBe('over-velocity');
    await tested.close();
  });

  it('holds for two services that ask at the same time', async () => {
    const tested = await open(limited({ unitsPerHour: 10n }));
    const orders = await Promise.all(Array.from({ length: 20 }, () => pay(1n)));
    const codes = await Promise.all(orders.map(({ id, bytes }) => tested.codeFor('ETHEREUM', id, bytes)));
    expect(codes.filter((code) => code === undefined)).toHaveLength(10);
    expect(new Set(codes)).toEqual(new Set([undefined, 'over-velocity']));
    await tested.close();
  });
});

describe('after a restore of the database from an old backup', () => {
  it('a payment that was signed is not signed under another assignment', async () => {
    const tested = await open();
    const key = newId();
    const first = await pay(5n, key);
    expect(await tested.codeFor('ETHEREUM', first.id, first.bytes)).toBeUndefined();
    // The backup is from before the assignment, and the keeper makes a new one.
    await test.database.query('delete from chain_assignment_payments where assignment_id = $1', [first.id]);
    await test.database.query('delete from chain_assignments where id = $1', [first.id]);
    const second = await pay(5n, key);
    expect(await tested.codeFor('ETHEREUM', second.id, second.bytes)).toBe('already-signed-elsewhere');
    await expect(tested.ask('ETHEREUM', second.id, second.bytes)).rejects.toThrow(
      `Payment ${key} was signed under assignment ${first.id}, which the database does not know: it may have been restored from a backup. Run "ferry rails recover" before the payment is made again.`,
    );
    await tested.close();
    const restarted = await open();
    expect(await restarted.codeFor('ETHEREUM', second.id, second.bytes)).toBe('already-signed-elsewhere');
    await restarted.close();
  });

  it('the same assignment is signed again', async () => {
    const tested = await open();
    const { id, bytes } = await pay(5n);
    const before = await tested.ask('ETHEREUM', id, bytes);
    await tested.close();
    const restarted = await open();
    expect(await restarted.ask('ETHEREUM', id, bytes)).toEqual(before);
    await restarted.close();
  });

  it('a payment gets another assignment only once the chain has proven that the first one is dead', async () => {
    const tested = await open();
    const key = newId();
    const first = await pay(5n, key);
    expect(await tested.codeFor('ETHEREUM', first.id, first.bytes)).toBeUndefined();
    const { query } = unguarded(test.database);
    await query('update chain_assignment_payments set active = false where assignment_id = $1', [first.id]);
    const second = await pay(5n, key);
    expect(await tested.codeFor('ETHEREUM', second.id, second.bytes)).toBe('already-signed-elsewhere');
    await query(`update chain_assignments set state = 'SUPERSEDED' where id = $1`, [first.id]);
    // Restored from a backup: the database has looked for no transaction of the first one.
    expect(await tested.codeFor('ETHEREUM', second.id, second.bytes)).toBe('already-signed-elsewhere');
    const lines = readFileSync(tested.logPath, 'utf8').trimEnd().split('\n');
    const { hash } = lines
      .map((line) => JSON.parse(line).decision)
      .findLast((one) => one.assignmentId === first.id && one.decision === 'signed');
    await query(
      `insert into chain_versions (assignment_id, number, hash, bytes, fee_units_max, fee_rate, signed_at_ns)
       values ($1, 1, $2, '', 0, 0, 1)`,
      [first.id, hash],
    );
    expect(await tested.codeFor('ETHEREUM', second.id, second.bytes)).toBeUndefined();
    await tested.close();
  });
});

describe('the log', () => {
  it('has a line for each decision, with the hash of the one before', async () => {
    const tested = await open(limited({ unitsPerHour: 5n }));
    await signFor(tested, 5n);
    await signFor(tested, 1n);
    const lines = readFileSync(tested.logPath, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ decision }) => decision.decision)).toEqual(['signed', 'refused']);
    expect(lines[1].previous).toBe(lines[0].hash);
    expect(lines[0].decision).toMatchObject({
      lane: LANE,
      slot: String(slot - 1),
      payments: [{ asset: 'ETH', units: '5' }],
    });
    expect(lines[1].decision).toMatchObject({
      code: 'over-velocity',
      reason: expect.stringContaining('units_per_hour'),
    });
    await tested.close();
  });

  it('knows requests of before a restart', async () => {
    const tested = await open();
    const { id, bytes } = await pay(1n);
    await tested.ask('ETHEREUM', id, bytes, 'once');
    await tested.close();
    const restarted = await open();
    expect(await restarted.codeFor('ETHEREUM', id, bytes, 'once')).toBe('replayed');
    await restarted.close();
  });

  it('that ends in the middle of a line, after a crash, is repaired', async () => {
    const tested = await open();
    for (let count = 0; count < 3; count += 1) await signFor(tested, 1n);
    await tested.close();
    const bytes = readFileSync(tested.logPath);
    truncateSync(tested.logPath, bytes.length - 10);
    const restarted = await open();
    expect(restarted.log.lines).toBe(2);
    expect(restarted.log.repairedBytes).toBeGreaterThan(100);
    expect(await signFor(restarted, 1n)).toBeUndefined();
    await restarted.close();
    const again = await open();
    expect([again.log.lines, again.log.repairedBytes]).toEqual([3, 0]);
    await again.close();
  });

  it('with a changed, removed, added or exchanged line stops the start with a sentence', async () => {
    const tested = await open();
    for (let count = 0; count < 3; count += 1) await signFor(tested, 1_000n);
    await tested.close();
    const lines = readFileSync(tested.logPath, 'utf8').trimEnd().split('\n');
    const tampered: [number, string[]][] = [
      [2, [lines[0]!, lines[1]!.replace('"1000"', '"1"'), lines[2]!]],
      [3, [lines[0]!, lines[1]!, lines[2]!.replace('"1000"', '"1"')]],
      [2, [lines[0]!, lines[2]!]],
      [1, [lines[1]!, lines[2]!]],
      [2, [lines[0]!, lines[0]!, lines[1]!, lines[2]!]],
      [2, [lines[0]!, 'x', lines[1]!]],
    ];
    for (const [line, texts] of tampered) {
      writeFileSync(tested.logPath, `${texts.join('\n')}\n`);
      await expect(open()).rejects.toThrow(`line ${line} was changed, or lines before it are missing`);
    }
    writeFileSync(tested.logPath, `${lines.join('\n')}\n`);
    await (await open()).close();
  });

  it('belongs to one signer at a time', async () => {
    const tested = await open();
    await expect(open()).rejects.toThrow('Another signer uses the log');
    await tested.close();
    await (await open()).close();
  });

  it('that something else has written to ends the signing', async () => {
    const tested = await open();
    writeFileSync(tested.logPath, 'x\n', { flag: 'a' });
    const { id, bytes } = await pay(1n);
    await expect(tested.ask('ETHEREUM', id, bytes)).rejects.toThrow('the log cannot be written');
    await expect(tested.ask('ETHEREUM', id, bytes)).rejects.toThrow('the log cannot be written');
    await tested.close();
  });
});
