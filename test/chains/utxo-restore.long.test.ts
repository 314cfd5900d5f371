import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { until } from '../support/until.ts';
import { COIN, createUtxoProduction, kindOf, type UtxoProduction } from '../support/utxo-production.ts';

/** A database that is restored from a backup does not know what was paid since. The signer's log and the chain do. */

const kinds = (['LITECOIN', 'BITCOIN_CASH'] as const).flatMap((network) => kindOf(network) ?? []);

describe.each(kinds.map((kind) => [kind.network, kind] as const))('a restored wallet on %s', (_, kind) => {
  let production: UtxoProduction;
  let payees = 0;
  beforeAll(async () => {
    production = await createUtxoProduction(kind);
  });
  afterAll(() => production?.remove());

  type Made = { readonly id: string; readonly local: string };

  async function withdraw(amount: string): Promise<Made> {
    payees += 1;
    const { address, local } = production.payee(payees);
    return { id: await production.withdraw(production.asset, amount, address), local };
  }

  /** Accepted by the rail, while nothing can be signed: some have an assignment, others wait. */
  async function withdrawUnsigned(count: number): Promise<Made[]> {
    await production.running.signer.end('SIGKILL');
    const made: Made[] = [];
    for (let index = 0; index < count; index += 1) made.push(await withdraw('1'));
    await until('all are accepted, and the first has coins', async () => {
      const [row] = await production.query<{ accepted: number; taken: number }>(
        `select count(*)::integer as accepted, count(*) filter (where taken)::integer as taken
         from rail_payments where key in (${made.map(({ id }) => `'${id}'`).join()})`,
      );
      return row!.accepted === count && row!.taken > 0;
    });
    return made;
  }

  async function recover(): Promise<{ outcome: string; payments: { key: string }[] }[]> {
    const done = await production.ferry('rails', 'recover', '--network', kind.network, '--json');
    expect(done).toMatchObject({ code: 0 });
    return JSON.parse(done.stdout).recovered;
  }

  const keysOf = (recovered: Awaited<ReturnType<typeof recover>>, outcome: string): string[] =>
    recovered
      .filter((one) => one.outcome === outcome)
      .flatMap(({ payments }) => payments.map(({ key }) => key))
      .sort();

  it('pays nothing a second time, and hands out no address again', async () => {
    const before = await production.depositAddress();
    const five = await withdrawUnsigned(5);
    const ids = five.map(({ id }) => id);
    await production.backUp();

    await production.startSigner();
    await production.startNode();
    await production.signed(ids);
    const after = await production.depositAddress();
    expect(after).not.toBe(before);
    await production.chain.mine(1);
    const later = await withdraw('2');
    await production.signed([later.id]);
    const held = await production.held([after]);

    await production.restore();
    await production.startSigner();
    const recovered = await recover();
    expect(keysOf(recovered, 'recovered')).toEqual(ids.toSorted());
    expect(keysOf(recovered, 'unknown-payments')).toEqual([later.id]);
    await production.startNode();

    const ended = await production.completed(ids);
    expect(new Set(ended.map((one) => one.crypto_tx_hash)).size).toBeGreaterThan(0);
    const next = await withdraw('3');
    await production.completed([next.id]);
    expect(await production.paid([...five, later, next].map(({ local }) => local))).toEqual([
      ...five.map(() => [COIN]),
      [2n * COIN],
      [3n * COIN],
    ]);
    expect(held).toBeGreaterThan(0n);

    // Somebody has the address that was handed out after the backup, and pays to it.
    await production.outsider.pay([{ address: after, units: 5n * COIN }]);
    let reason: string | undefined;
    await until('the deposit is in suspense', async () => {
      await production.chain.mine(1);
      [{ reason } = { reason: undefined }] = await production.query<{ reason: string }>(
        `select reason from suspense_deposits where sent_to::text like '%${after}%'`,
      );
      return reason !== undefined;
    });
    expect(reason).toBe('No profile has this address or memo.');
    const fresh = await production.depositAddress();
    expect([before, after]).not.toContain(fresh);
    const [row] = await production.query<{ number: bigint }>(
      `select max(number) as number from chain_addresses`,
    );
    expect(row!.number).toBe(BigInt(1 + LIMITS.chainAddressesSkipped));

    // Only what nobody has booked yet is missing from the ledger: the later withdrawal and its fee.
    const missing = (await production.clearing(production.asset)) - (await production.held([after]));
    expect(missing).toBeGreaterThan(2n * COIN);
    expect(missing).toBeLessThan(2n * COIN + COIN / 100n);
    await production.expectSound();
  });

  it('follows what was signed even if the service has run before, and the node has forgotten it', async () => {
    const three = await withdrawUnsigned(3);
    const ids = three.map(({ id }) => id);
    await production.backUp();
    await production.startSigner();
    await production.startNode();
    await production.signed(ids);
    await production.chain.restart();

    await production.restore();
    await production.startSigner();
    await production.startNode();
    let stopped = '';
    await until('the wallet waits for an operator, or all is paid', async () => {
      stopped = (await production.ferry('rails', 'stops')).stdout;
      const found = await Promise.all(ids.map(production.transfer));
      await production.chain.mine(1);
      return stopped.includes('signer-refused') || found.every(({ status }) => status === 'COMPLETED');
    });
    await recover();
    if (stopped.includes('signer-refused')) {
      const resumed = ['rails', 'resume', '--network', kind.network, '--task', production.change()];
      expect((await production.ferry(...resumed)).code).toBe(0);
    }
    await production.completed(ids);
    expect(await production.paid(three.map(({ local }) => local))).toEqual(three.map(() => [COIN]));
    expect((await recover()).filter(({ outcome }) => outcome === 'recovered')).toEqual([]);
    await production.expectSound();
  });
});
