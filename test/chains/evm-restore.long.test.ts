import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProduction, type Production } from '../support/evm-production.ts';
import { until } from '../support/until.ts';

/** A database that is restored from a backup does not know what was paid since. The signer's log and the chain do. */
let production: Production;
let name: string;
beforeAll(async () => {
  production = await createProduction();
  name = (production.test.address as { database: string }).database;
});
afterAll(async () => {
  await production?.administer(`drop database if exists ${name}_backup with (force)`);
  await production?.remove();
});

const ETHER = 10n ** 18n;

async function kill(): Promise<void> {
  await production.running.node.end('SIGKILL');
  await production.running.signer.end('SIGKILL');
}

async function copy(from: string, to: string): Promise<void> {
  await until('nobody is connected', async () => {
    await production.administer(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`,
    );
    await production.administer(`create database ${to} template ${from}`);
    return true;
  });
}

const sent = async (): Promise<number> =>
  Number(await production.anvil.call('eth_getTransactionCount', [production.lane, 'latest']));

it('pays nothing a second time after a restore, and completes what the chain has paid', async () => {
  const { anvil } = production;
  await production.running.signer.end('SIGKILL');
  const five: { id: string; to: string }[] = [];
  for (let count = 0; count < 5; count += 1) five.push(await production.withdraw('ETH', '1'));
  // One has a nonce and no signature, the others wait.
  await until('all are accepted by the rail', async () => {
    const [row] = await production.query<{ taken: number; waiting: number }>(
      'select count(*) filter (where taken)::integer as taken, count(*) filter (where not taken)::integer as waiting from rail_payments',
    );
    return row!.taken === 1 && row!.waiting === 4;
  });
  await production.running.node.end('SIGKILL');
  await copy(name, `${name}_backup`);

  await production.startSigner();
  await production.startNode();
  await production.completed(five.map(({ id }) => id));
  const later = await production.withdraw('ETH', '2');
  await production.completed([later.id]);
  expect(await sent()).toBe(6);

  await kill();
  await production.administer(`drop database ${name} with (force)`);
  await copy(`${name}_backup`, name);
  await production.startSigner();
  await production.startNode();
  await until(
    'the lane waits for an operator',
    async () => {
      await anvil.mine();
      const { stdout } = await production.ferry('rails', 'stops');
      return stdout.includes('foreign-slot') && stdout.includes('waits for "ferry rails resume"');
    },
    200,
  );
  const recovered = JSON.parse(
    (await production.ferry('rails', 'recover', '--network', production.network, '--json')).stdout,
  ).recovered as { outcome: string; payments: { key: string }[] }[];
  const keysOf = (outcome: string): string[] =>
    recovered
      .filter((one) => one.outcome === outcome)
      .flatMap(({ payments }) => payments.map(({ key }) => key))
      .sort();
  expect(keysOf('recovered')).toEqual(five.map(({ id }) => id).sort());
  expect(keysOf('unknown-payments')).toEqual([later.id]);

  const ended = await production.completed(five.map(({ id }) => id));
  expect(new Set(ended.map((one) => one.crypto_tx_hash)).size).toBe(5);
  const resumed = await production.ferry(
    'rails',
    'resume',
    '--network',
    production.network,
    '--task',
    production.lane,
  );
  expect(resumed).toMatchObject({ code: 0 });
  const next = await production.withdraw('ETH', '3');
  await production.completed([next.id]);

  expect(await sent()).toBe(7);
  for (const { to } of five) expect(await anvil.balance(to)).toBe(ETHER);
  expect(await anvil.balance(later.to)).toBe(2n * ETHER);
  expect(await anvil.balance(next.to)).toBe(3n * ETHER);
  const again = await production.ferry('rails', 'recover', '--network', production.network);
  expect(again.stdout).toContain('The database knows everything that was signed for ARBITRUM_ONE.');
  await production.expectSound();
});
