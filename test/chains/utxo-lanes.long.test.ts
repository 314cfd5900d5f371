import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createUtxoWorld,
  hasLitecoind,
  payee,
  type UtxoNode,
  type UtxoWorld,
} from '../support/utxo-world.ts';
import { settingsOf } from './utxo-wallet.ts';

/** What the keeper does with the coins of a wallet beside payments, and with versions of a transaction. */

describe.runIf(hasLitecoind)('the keeper of a wallet', () => {
  let world: UtxoWorld;
  let current: UtxoNode;
  const { fees } = settingsOf('LITECOIN', []);
  const dear = { ...fees, fallbackRate: 20_000n };

  beforeAll(async () => {
    // One coin: everything else is paid from its change.
    world = await createUtxoWorld(1);
    current = world.node;
  });
  afterAll(() => world?.drop());

  /** Another node takes over, with nodes that replace transactions and ask for that rate. */
  async function takeOver(asked = fees): Promise<UtxoNode> {
    await Promise.all([...current.keepers, current.scanner].map(async (one) => one.stop()));
    current = await world.createNode({ settings: { replacement: true, fees: asked } });
    return current;
  }

  const versionsOf = (id: string) =>
    world.database.query<{ hash: string }>(
      `select v.hash from chain_versions v join chain_assignment_payments p using (assignment_id)
       where p.key = $1 order by v.number`,
      [id],
    );
  const changeOf = async (hash: string) =>
    (
      await world.database.query<{ height: bigint | null }>(
        'select height from chain_coins where tx_hash = $1',
        [hash],
      )
    )[0];

  it('offers the change of the newest version only, and finds that of the one which is mined', async () => {
    const profileId = await world.createProfile({ LTC: '10' });
    const { address, local } = payee(1);
    const { id } = await world.withdraw(profileId, 'LTC', '1', address);
    await world.turn(await takeOver());
    const [first] = await versionsOf(id);
    expect(await changeOf(first!.hash)).toEqual({ height: null });
    await world.turn(await takeOver(dear));
    const [, second] = await versionsOf(id);
    expect(await changeOf(first!.hash)).toBeUndefined();
    expect(await changeOf(second!.hash)).toEqual({ height: null });
    await world.settle(current, [id]);
    expect((await changeOf(second!.hash))?.height).not.toBeNull();
    expect(await world.paidTo(local)).toEqual([100_000_000n]);
    await world.expectBooked();
  });

  it('does not replace a transaction whose change another one spends: that one would become impossible', async () => {
    const profileId = await world.createProfile({ LTC: '10' });
    await world.turn(await takeOver());
    const older = await world.withdraw(profileId, 'LTC', '1', payee(2).address);
    await world.turn(current);
    const newer = await world.withdraw(profileId, 'LTC', '1', payee(3).address);
    await world.turn(current);
    const [first] = await versionsOf(older.id);
    const [coin] = await world.database.query(
      `select from chain_coins c join chain_assignment_payments p on p.assignment_id = c.assignment_id
       where c.tx_hash = $1 and p.key = $2`,
      [first!.hash, newer.id],
    );
    expect(coin).toBeDefined();
    await world.turn(await takeOver(dear));
    expect(await versionsOf(older.id)).toHaveLength(1);
    const ended = await world.settle(current, [older.id, newer.id]);
    expect(ended.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED']);
    const paid = await world.paid([payee(2).local, payee(3).local]);
    expect([...paid.values()]).toEqual([[100_000_000n], [100_000_000n]]);
    await world.expectBooked();
  });

  it('joins many small coins while nothing waits, and books what that costs', async () => {
    await takeOver();
    const profileId = await world.createProfile();
    const address = await world.depositAddress(current, profileId);
    await world.outsider.pay(Array.from({ length: 60 }, () => ({ address, units: 1_000_000n })));
    await world.chain.mine(3);
    await world.turn(await takeOver());
    const upkeep = () =>
      world.database.query<{ state: string; coins: number }>(
        `select a.state, count(c)::integer as coins from chain_assignments a join chain_coins c on c.assignment_id = a.id
         where a.purpose = 'UPKEEP' group by a.id`,
      );
    expect(await upkeep()).toEqual([{ state: 'ASSIGNED', coins: expect.any(Number) }]);
    await world.chain.mine(3);
    await world.turn(current);
    const [joined] = await upkeep();
    expect(joined!.state).toBe('SUCCEEDED');
    expect(joined!.coins).toBeGreaterThanOrEqual(40);
    await world.turn(current);
    expect(await world.available(profileId, 'LTC')).toBe('0.6');
    await world.expectBooked();
  });
});
