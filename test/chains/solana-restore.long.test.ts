import { afterAll, beforeAll, expect, it } from 'vitest';
import { send } from '../support/solana-money.ts';
import { createSolanaProduction, type SolanaProduction } from '../support/solana-production.ts';
import { until } from '../support/until.ts';

/** A database that is restored from a backup does not know what was paid since. The signer's log and the chain do. */

const LAMPORTS = 1_000_000_000n;
const SKIPPED = 5;
let production: SolanaProduction;
beforeAll(async () => {
  production = await createSolanaProduction();
});
afterAll(() => production?.remove());

type Made = { readonly id: string; readonly to: string };

async function withdraw(amount: string): Promise<Made> {
  const { address: to } = await production.chain.wallet();
  return { id: await production.withdraw('SOL', amount, to), to };
}

async function pay(to: string, lamports: bigint): Promise<void> {
  const { kit, system } = production.chain.library;
  const source = await production.chain.wallet(lamports + LAMPORTS);
  const instruction = { source, destination: kit.address(to), amount: lamports };
  await send(production.chain, source, [system.getTransferSolInstruction(instruction)]);
}

it('pays nothing a second time after a restore, and hands out no address again', async () => {
  const first = await withdraw('1');
  await production.completed([first.id]);
  const before = await production.depositAddress();
  await production.running.signer.end('SIGKILL');
  const five: Made[] = [];
  for (let count = 0; count < 5; count += 1) five.push(await withdraw('1'));
  await until('all are accepted by the rail', async () => {
    const rows = await production.query(`select from rail_payments where state = 'ACCEPTED'`);
    return rows.length === five.length;
  });
  await production.backUp();

  await production.startSigner();
  await production.startNode();
  await production.completed(five.map(({ id }) => id));
  const later = await withdraw('2');
  await production.completed([later.id]);
  const after = await production.depositAddress();

  await production.restore();
  await production.startSigner();
  const recover = ['rails', 'recover', '--network', 'SOLANA', '--skip-addresses', String(SKIPPED), '--json'];
  const done = await production.ferry(...recover);
  expect(done).toMatchObject({ code: 0 });
  const { recovered, next_address: nextAddress } = JSON.parse(done.stdout) as {
    recovered: { outcome: string; payments: { key: string }[] }[];
    next_address: string;
  };
  const keysOf = (outcome: string): string[] =>
    recovered
      .filter((one) => one.outcome === outcome)
      .flatMap(({ payments }) => payments.map(({ key }) => key))
      .sort();
  expect(keysOf('recovered')).toEqual(five.map(({ id }) => id).toSorted());
  expect(keysOf('unknown-payments')).toEqual([later.id]);
  expect(nextAddress).toBe(String(1 + SKIPPED));

  await production.startNode();
  await production.completed(five.map(({ id }) => id));
  const next = await withdraw('3');
  await production.completed([next.id]);
  for (const { id, to } of [first, ...five, later, next]) expect(await production.timesPaid(id, to)).toBe(1);

  // Somebody has the address that was handed out after the backup, and pays to it.
  await pay(after, 4n * LAMPORTS);
  let reason: string | undefined;
  await until('the deposit is in suspense', async () => {
    [{ reason } = { reason: undefined }] = await production.query<{ reason: string }>(
      `select reason from suspense_deposits where sent_to::text like '%${after}%'`,
    );
    return reason !== undefined;
  });
  expect(reason).toBe('No profile has this address or memo.');
  expect([before, after]).not.toContain(await production.depositAddress());

  // Only what nobody has booked yet is missing from the ledger: the later withdrawal and its fee.
  const missing = (await production.clearing('SOL')) - (await production.held([after]));
  expect(missing).toBeGreaterThan(2n * LAMPORTS);
  expect(missing).toBeLessThan(2n * LAMPORTS + LAMPORTS / 100n);
  await production.expectSound();
});
