import { afterAll, beforeAll, expect, it } from 'vitest';
import { transferCall } from '../support/anvil.ts';
import { createProduction, type Production } from '../support/evm-production.ts';
import { until } from '../support/until.ts';

/** Production as processes: keys are in the signer, and the service pays with them. */
let production: Production;
beforeAll(async () => {
  production = await createProduction();
});
afterAll(() => production?.remove());

const ETHER = 10n ** 18n;

it('pays coins and tokens, and credits both, while the service and the signer are killed', async () => {
  const { anvil, contract, running, lane } = production;
  const first = [await production.withdraw('ETH', '1'), await production.withdraw('USDC', '25')];
  await production.completed(first.map(({ id }) => id));

  await running.signer.end('SIGKILL');
  const waiting = [await production.withdraw('ETH', '2'), await production.withdraw('USDC', '50')];
  await until('operators see that the signer does not answer', async () => {
    const { stdout } = await production.ferry('rails', 'stops');
    return stdout.includes('signer-unreachable') && stdout.includes('goes on by itself');
  });
  await running.node.end('SIGKILL');
  // The service starts without the signer.
  await production.startNode();
  await production.startSigner();
  await production.completed(waiting.map(({ id }) => id));

  const { address } = await production.call('POST', '/v2/transfer/deposit-addresses', {
    profile_id: production.profile,
    crypto_network: production.network,
  });
  await anvil.send({ to: address, value: 3n * ETHER });
  await anvil.send({ to: contract, data: transferCall(address, 7_000_000n) });
  const deposits = async () =>
    production.query<{ asset: string; units: bigint }>(
      `select asset, amount_units::numeric as units from transfers where direction = 'CREDIT' and status = 'COMPLETED' order by asset`,
    );
  await running.node.end('SIGKILL');
  await production.startNode();
  await until(
    'both deposits are credited',
    async () => {
      await anvil.mine();
      return (await deposits()).length === 2;
    },
    200,
  );
  expect(await deposits()).toEqual([
    { asset: 'ETH', units: 3n * ETHER },
    { asset: 'USDC', units: 7_000_000n },
  ]);

  expect(await anvil.balance(first[0]!.to)).toBe(ETHER);
  expect(await anvil.balance(waiting[0]!.to)).toBe(2n * ETHER);
  expect(await anvil.tokens(contract, first[1]!.to)).toBe(25_000_000n);
  expect(await anvil.tokens(contract, waiting[1]!.to)).toBe(50_000_000n);
  expect(Number(await anvil.call('eth_getTransactionCount', [lane, 'latest']))).toBe(4);
  await production.expectBooked();
  await production.expectSound();
});

it('ferry rails check says whether the signer answers, and has the keys that are configured', async () => {
  const { lane, xpub } = production;
  const sound = await production.ferry('rails', 'check');
  expect(sound.stdout).toContain(`answers, and has the keys of ${lane}`);
  expect(sound.code).toBe(0);
  const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const otherEnd = xpub.endsWith('1') ? '2' : '1';
  production.configure({ lanes: [other], account: `${xpub.slice(0, -1)}${otherEnd}` });
  const wrong = await production.ferry('rails', 'check');
  expect(wrong.stdout).toContain(`it has no key for the lane ${other}`);
  expect(wrong.stdout).toContain(`its account is ${xpub}, and `);
  expect(wrong.code).toBe(1);
  production.configure();
  await production.running.signer.end('SIGTERM');
  const absent = await production.ferry('rails', 'check');
  expect(absent.stdout).toMatch(/FAULT +signer .*does not answer/);
  expect(absent.code).toBe(1);
});
