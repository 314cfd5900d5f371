import { expect } from 'vitest';
import { plainId } from '../../src/banks/ids.ts';
import { newId } from '../../src/kernel/id.ts';
import type { BankWorld } from './bank-world.ts';
import { paymentFor } from './bank-world.ts';

/** A day of payments in files, and its statement: every payment once, and nothing left over. Returns what it took. */
export async function payMany(world: BankWorld, count: number) {
  const started = performance.now();
  const keys = Array.from({ length: count }, newId);
  const amountOf = (index: number): string => `${1 + (index % 5_000)}.${String(index % 60).padStart(2, '0')}`;
  for (let from = 0; from < count; from += 50)
    await Promise.all(
      keys
        .slice(from, from + 50)
        .map((key, index) => world.rail.submit(paymentFor(key, amountOf(from + index)), world.signal)),
    );
  const submittedMs = performance.now() - started;
  await world.settle(2);
  await world.bank.state();
  await world.settle(1);
  const { payments, unstated } = await world.bank.record();
  expect(payments.map(({ endToEndId }) => endToEndId).sort()).toEqual(keys.map(plainId).sort());
  expect(payments.every(({ state }) => state === 'PAID')).toBe(true);
  expect(unstated).toEqual([]);
  const [row] = await world.database.query<Record<string, bigint>>(
    `select (select count(*) from rail_payments where state = 'COMPLETED') as completed,
       (select sum(units) from rail_payments where state = 'COMPLETED') as units,
       (select count(*) from bank_entries where effect = 'PAYMENT' and statement_id is not null) as stated,
       (select -closing_units from bank_statements) as closing,
       (select count(*) from bank_findings) as findings,
       (select count(*) from bank_files) as files,
       (select count(*) from reconciliation_items where side = 'STATEMENT') as lines`,
  );
  const many = BigInt(count);
  expect(row).toMatchObject({ completed: many, stated: many, findings: 0n, lines: many });
  expect(row!.closing).toBe(row!.units);
  return {
    files: Number(row!.files),
    submitted_ms: Math.round(submittedMs),
    total_ms: Math.round(performance.now() - started),
    peak_memory_mb: Math.round(process.resourceUsage().maxRSS / 1_024),
  };
}
