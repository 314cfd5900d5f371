import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CoinProxy, startCoinProxy } from '../support/coin-proxy.ts';
import { until } from '../support/until.ts';
import { COIN, createUtxoProduction, kindOf, type UtxoProduction } from '../support/utxo-production.ts';
import { isInstalled, UTXO_PROGRAMS } from '../support/utxo-programs.ts';

/** Each network of coins on a node of its own, with the service and the signer as processes. */

const kinds = (['LITECOIN', 'BITCOIN', 'BITCOIN_CASH'] as const).flatMap((network) => kindOf(network) ?? []);

const missing = UTXO_PROGRAMS.filter((program) => !isInstalled(program));
if (missing.length > 0)
  console.warn(`NOT RUN: the tests of a network whose node is not installed: ${missing.join(', ')}.`);

describe.each(kinds.map((kind) => [kind.network, kind] as const))('the wallet on %s', (_, kind) => {
  let production: UtxoProduction;
  let proxy: CoinProxy;
  let payees = 0;
  beforeAll(async () => {
    production = await createUtxoProduction(kind, {
      nodes: async (real) => {
        proxy = await startCoinProxy(real);
        return [proxy.settings];
      },
    });
  });
  afterAll(async () => {
    await production?.remove();
    await proxy?.stop();
  });

  async function withdraw(amount: string): Promise<{ readonly id: string; readonly local: string }> {
    payees += 1;
    const { address, local } = production.payee(payees);
    return { id: await production.withdraw(production.asset, amount, address), local };
  }

  /** Each deposit of these tests has an amount of its own. */
  const deposits = async (amount: string): Promise<any[]> => {
    const { items } = await production.call('GET', '/v2/transfer/transfers?type=CRYPTO_DEPOSIT');
    return items.filter((one: any) => one.amount === amount);
  };

  async function takeBack(blocks: number): Promise<void> {
    const height: number = await production.chain.rpc('getblockcount');
    await production.chain.rpc(
      'invalidateblock',
      await production.chain.rpc('getblockhash', height - blocks + 1),
    );
  }

  it('pays a withdrawal and credits a deposit, once each, and the ledger has what the chain has', async () => {
    const paid = await withdraw('1');
    const [ended] = await production.completed([paid.id]);
    expect(ended.crypto_tx_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await production.paid([paid.local])).toEqual([[COIN]]);
    const address = await production.depositAddress();
    await production.outsider.pay([{ address, units: 2n * COIN }]);
    await until(
      'the deposit is credited',
      async () => {
        await production.chain.mine(1);
        return (await deposits('2')).length > 0;
      },
      100,
    );
    await production.chain.mine(2);
    expect(await deposits('2')).toMatchObject([{ status: 'COMPLETED' }]);
    await production.expectBooked();
  });

  it('pays once, and credits once, although a block was reorganised away', async () => {
    const made = await withdraw('1');
    const address = await production.depositAddress();
    await production.signed([made.id]);
    await production.outsider.pay([{ address, units: 3n * COIN }]);
    await production.chain.mine(1);
    await takeBack(1);
    await production.chain.mine(2);
    await production.completed([made.id]);
    expect(await production.paid([made.local])).toEqual([[COIN]]);
    // A node may forget what a block that is gone contained: the outsider pays again then.
    if ((await production.paid([address]))[0]!.length === 0)
      await production.outsider.pay([{ address, units: 3n * COIN }]);
    await until(
      'the deposit is credited',
      async () => {
        await production.chain.mine(1);
        return (await deposits('3')).length > 0;
      },
      100,
    );
    expect(await deposits('3')).toHaveLength((await production.paid([address]))[0]!.length);
    await production.expectBooked();
  });

  it('pays more when the network asks for more: by a replacement, or by a transaction that pays for both', async () => {
    const made = await withdraw('1');
    await production.signed([made.id]);
    proxy.behave(({ method }) => {
      if (method === 'estimatesmartfee') return { feerate: 0.0005 };
      return method === 'estimatefee' ? 0.0005 : undefined;
    });
    const replaces = production.outsider.wallet.chain.hasReplacement;
    await until('a higher fee is offered', async () => {
      const rows = await production.query(
        replaces
          ? `select from chain_versions v join chain_assignment_payments p using (assignment_id)
             where p.key = '${made.id}' and v.number = 2 and v.broadcast_at_ns is not null`
          : `select from chain_assignments where purpose = 'UPKEEP' and state = 'ASSIGNED'
             and exists (select from chain_versions where assignment_id = id and broadcast_at_ns is not null)`,
      );
      return rows.length > 0;
    });
    await production.completed([made.id]);
    proxy.behave(undefined);
    expect(await production.paid([made.local])).toEqual([[COIN]]);
    await until('everything is final', async () => {
      await production.chain.mine(1);
      return (await production.query(`select from chain_assignments where state = 'ASSIGNED'`)).length === 0;
    });
    await production.expectBooked();
    await production.expectSound();
  });
});
