import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Problem } from '../../src/kernel/problem.ts';
import { changePolicy } from '../../src/policies/change.ts';
import { StalePolicies, withPolicies } from '../../src/policies/guard.ts';
import type { Document } from '../../src/policies/policy.ts';
import { policySetOf } from '../../src/policies/store.ts';
import { fiatWithdrawalCommand } from '../../src/withdrawals/fiat.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** Velocity limits, when many withdrawals are requested at the same time on several nodes. */
let world: World;
const databases: Database[] = [];
const nodes: Node[] = [];
beforeAll(async () => {
  world = await createWorld();
  for (let count = 0; count < 3; count += 1) {
    const database = world.connect();
    databases.push(database);
    nodes.push(world.createNode({ database }));
  }
});
afterAll(async () => {
  for (const node of nodes) await node.writePath.stop();
  for (const database of databases) await database.close();
  await world.drop();
});

const set = (rules: Document['rules'], scope: Document['applies_to'] = {}, isOperators = false) =>
  changePolicy(world.database, {
    customerId: isOperators ? null : world.caller.customerId,
    name: 'limits',
    enabled: true,
    document: { applies_to: scope, rules },
    reason: 'test',
    actor: cliActor('tester'),
  });

const withdrawOn = (node: Node, profile: string, account: string, amount: string): Promise<unknown> =>
  withPolicies(
    () => policySetOf(world.database, world.caller.customerId),
    (policies) => {
      const request = { asset: 'USD', amount, profile_id: profile, fiat_account_id: account };
      return node.writePath.submit(fiatWithdrawalCommand(world.caller, request, policies, world.creation));
    },
  );

async function race(amounts: readonly string[], profiles: readonly string[], account: string) {
  const outcomes = await Promise.allSettled(
    amounts.map((amount, index) =>
      withdrawOn(nodes[index % nodes.length]!, profiles[index % profiles.length]!, account, amount),
    ),
  );
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Problem] : []));
  expect(refused.filter(({ slug }) => slug !== 'policy-refused')).toEqual([]);
  return { accepted: amounts.length - refused.length, refused };
}

it.each([
  ['CUSTOMER', false],
  ['PROFILE', false],
  ['ALL', true],
] as const)(
  '64 withdrawals on three nodes never exceed a limit per %s by a cent, and none is refused below it',
  async (per, isOperators) => {
    const account = await world.createAccount('wire');
    const profiles = [
      await world.createProfile({ USD: '100000' }),
      ...(per === 'PROFILE' ? [] : [await world.createProfile({ USD: '100000' })]),
    ];
    // 40 of the 64 fit exactly.
    const rule = { type: 'velocity', name: 'day', asset: 'USD', max: '400.40', window: 'DAY', per } as const;
    await set([rule], { profile_ids: profiles }, isOperators);
    const { accepted, refused } = await race(Array<string>(64).fill('10.01'), profiles, account);
    expect(accepted).toBe(40);
    expect(refused).toHaveLength(24);
    // What all customers have used is nobody's to know.
    expect(refused.every(({ meta }) => 'used' in meta)).toBe(per !== 'ALL');
    await expect(withdrawOn(nodes[0]!, profiles[0]!, account, '0.01')).rejects.toMatchObject({
      slug: 'policy-refused',
    });
    if (isOperators)
      await set([{ type: 'approval', name: 'none', asset: 'USD', above: '99999999' }], {}, true);
  },
);

it('amounts of any size fill the limit to the cent, as a model of the same order does', async () => {
  const account = await world.createAccount('wire');
  const profile = await world.createProfile({ USD: '100000' });
  await set([{ type: 'velocity', name: 'hour', asset: 'USD', max: '1000', window: 'HOUR', per: 'PROFILE' }], {
    profile_ids: [profile],
  });
  const cents = Array.from({ length: 64 }, () => 1 + Math.floor(Math.random() * 5_000));
  await race(
    cents.map((one) => (one / 100).toFixed(2)),
    [profile],
    account,
  );
  const [row] = await world.database.query<{ used: bigint; smallest: bigint | null }>(
    `select sum(units)::numeric as used from withdrawal_uses where profile_id = $1`,
    [profile],
  );
  const used = Number(row!.used);
  expect(used).toBeLessThanOrEqual(100_000);
  // Whatever was refused did not fit: the smallest that was refused does not fit now.
  const accepted = await world.database.query<{ units: bigint }>(
    'select units from withdrawal_uses where profile_id = $1',
    [profile],
  );
  const left = [...cents];
  for (const { units } of accepted) left.splice(left.indexOf(Number(units)), 1);
  expect(left.filter((one) => used + one <= 100_000)).toEqual([]);
});

it('a withdrawal that fails gives back what it used, and one that leaves the window does, too', async () => {
  const account = await world.createAccount('wire');
  const profile = await world.createProfile({ USD: '100000' });
  await set([{ type: 'velocity', name: 'hour', asset: 'USD', max: '100', window: 'HOUR', per: 'PROFILE' }], {
    profile_ids: [profile],
  });
  const { id } = await world.withdrawFiat(profile, account, { amount: '100', memo: 'sandbox:refuse' });
  await expect(withdrawOn(nodes[1]!, profile, account, '1')).rejects.toMatchObject({
    slug: 'policy-refused',
  });
  await world.settle(world.createNode());
  expect((await world.transferOf(id)).status).toBe('FAILED');
  await withdrawOn(nodes[1]!, profile, account, '100');
  await world.database.query(
    'update withdrawal_uses set at_ns = at_ns - 3600000000000 where profile_id = $1',
    [profile],
  );
  await withdrawOn(nodes[2]!, profile, account, '100');
  await expect(withdrawOn(nodes[0]!, profile, account, '0.01')).rejects.toMatchObject({
    slug: 'policy-refused',
  });
  await world.settle(world.createNode());
});

it('a command that was made with policies of the past is refused as stale, and writes nothing', async () => {
  const account = await world.createAccount('wire');
  const profile = await world.createProfile({ USD: '1000' });
  const past = await policySetOf(world.database, world.caller.customerId);
  await set([{ type: 'amount_limit', name: 'one', asset: 'USD', max: '1' }], { profile_ids: [profile] });
  const request = {
    asset: 'USD',
    amount: '10',
    profile_id: profile,
    fiat_account_id: account,
    ref_id: newId(),
  };
  await expect(
    nodes[0]!.writePath.submit(fiatWithdrawalCommand(world.caller, request, past, world.creation)),
  ).rejects.toBeInstanceOf(StalePolicies);
  await expect(withdrawOn(nodes[0]!, profile, account, '10')).rejects.toMatchObject({
    slug: 'policy-refused',
  });
  expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '1000', held: '0' });
});
