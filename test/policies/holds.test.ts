import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freeze, lift } from '../../src/freezes/act.ts';
import { createResumeWorker } from '../../src/freezes/resume.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { formatInstant, NS_PER_MS } from '../../src/kernel/instant.ts';
import { changePolicy } from '../../src/policies/change.ts';
import { nextOpening } from '../../src/policies/hours.ts';
import type { Document } from '../../src/policies/policy.ts';
import type { Payment, Rail } from '../../src/rails/rail.ts';
import { resumeFrozen, submissionsUnderWay } from '../../src/withdrawals/freeze-store.ts';
import { listNotes } from '../../src/withdrawals/note-store.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** What policies hold, up to the moment at which the rail is called; and what the rail is told. */
let world: World;
let node: Node;
const paid: Payment[] = [];
beforeAll(async () => {
  world = await createWorld();
  const wrapRail = (rail: Rail): Rail => ({
    ...rail,
    async submit(payment, signal) {
      paid.push(payment);
      if (payment.memo === 'sanctioned')
        return { kind: 'failed', meaning: 'final', reason: 'Not possible.', privateReason: 'On list 7.' };
      return rail.submit(payment, signal);
    },
  });
  node = world.createNode({ wrapRail });
});
afterAll(() => world.drop());

const set = (profile: string, rules: Document['rules']) =>
  changePolicy(world.database, {
    customerId: null,
    name: profile,
    enabled: true,
    document: { applies_to: { profile_ids: [profile] }, rules },
    reason: 'test',
    actor: cliActor('tester'),
  });
const isPaid = (id: string): boolean => paid.some(({ key }) => key === id);
const nameOf = async (id: string) => (await world.transferOf(id)).secondaryStatus?.name;

describe('a withdrawal that a policy holds', () => {
  it('for an approval is submitted when it is released, once, and not before', async () => {
    const profile = await world.createProfile({ USD: '1000' });
    await set(profile, [{ type: 'approval', name: 'all', asset: 'USD', above: '0' }]);
    const { id } = await world.withdrawFiat(profile, await world.createAccount('wire'));
    await world.settle(node);
    expect([await nameOf(id), isPaid(id)]).toEqual(['AWAITING_APPROVAL', false]);
    const decision = {
      owner: 'operator',
      actor: { kind: 'client', id: 'second' } as const,
      reason: 'checked',
    };
    await node.withdrawals.releaseHeld(id, decision);
    await expect(node.withdrawals.releaseHeld(id, decision)).rejects.toMatchObject({ slug: 'invalid-state' });
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    await expect(node.withdrawals.refuseHeld(id, decision)).rejects.toMatchObject({ slug: 'invalid-state' });
    expect(paid.filter(({ key }) => key === id)).toHaveLength(1);
  });

  it('and that is released while the platform is frozen, is submitted when the freeze is lifted, and not before', async () => {
    const profile = await world.createProfile({ USD: '1000' });
    await set(profile, [{ type: 'approval', name: 'all', asset: 'USD', above: '0' }]);
    const { id } = await world.withdrawFiat(profile, await world.createAccount('wire'));
    await world.settle(node);
    const actor = cliActor('tester');
    const order = { scope: 'PLATFORM', subjectId: null, reason: 'test', actor } as const;
    const frozen = await freeze(world.database, order, [submissionsUnderWay]);
    await node.withdrawals.releaseHeld(id, { owner: 'operator', actor, reason: 'checked' });
    for (let round = 0; round < 3; round += 1) {
      await node.worker.runDue();
      world.advance(60_000);
    }
    expect([(await world.transferOf(id)).status, isPaid(id)]).toEqual(['PENDING', false]);
    await lift(world.database, frozen.freeze.id, actor, 'test');
    await createResumeWorker(world.database, [resumeFrozen], (error) => {
      throw error;
    }).runDue();
    await world.settle(node);
    expect([(await world.transferOf(id)).status, isPaid(id)]).toEqual(['COMPLETED', true]);
    await world.expectSound();
  });

  it('is refused at the very moment at which a worker submits it: one of them wins, and the money is in one place', async () => {
    const profile = await world.createProfile({ USD: '100000' });
    const account = await world.createAccount('wire');
    await set(profile, [{ type: 'approval', name: 'all', asset: 'USD', above: '0' }]);
    const made = await Promise.all(
      Array.from({ length: 20 }, () => world.withdrawFiat(profile, account, { amount: '10' })),
    );
    await Promise.all(
      made.map(async ({ id }, index) => {
        const decision = {
          owner: 'operator',
          actor: { kind: 'client', id: 'second' } as const,
          reason: 'checked',
        };
        const [one, other] = [
          () => node.withdrawals.releaseHeld(id, decision),
          () => node.withdrawals.refuseHeld(id, decision),
        ];
        const acts = index % 2 === 0 ? [one, other] : [other, one];
        await Promise.allSettled([...acts.map((act) => act()), node.worker.runDue()]);
      }),
    );
    await world.settle(node);
    for (const { id } of made) {
      const { status } = await world.transferOf(id);
      expect(status === 'COMPLETED').toBe(isPaid(id));
      expect(['COMPLETED', 'FAILED']).toContain(status);
    }
    await world.expectSound();
  });

  it('outside business hours is submitted when they begin, and a later attempt waits for them again', async () => {
    const profile = await world.createProfile({ USD: '1000' });
    // A day that is two to four days away, by the clock of the test.
    const day = (['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const)[
      new Date(Number(world.now() / NS_PER_MS) + 3 * 86_400_000).getUTCDay()
    ]!;
    const hours = { time_zone: 'UTC', days: [day], from: '00:00', to: '24:00' };
    await set(profile, [{ type: 'business_hours', name: 'office', ...hours }]);
    const { id } = await world.withdrawFiat(profile, await world.createAccount('wire'));
    await node.worker.runDue();
    const opening = formatInstant(nextOpening(hours, world.now()));
    expect((await world.transferOf(id)).secondaryStatus).toEqual({
      name: 'OUTSIDE_BUSINESS_HOURS',
      detail: `Held until ${opening} (rule "office").`,
    });
    world.advance(86_400_000);
    await node.worker.runDue();
    expect(isPaid(id)).toBe(false);
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(new Date(Number(world.now() / NS_PER_MS)).toISOString() >= opening).toBe(true);
  });
});

describe('the rail', () => {
  it('is told who pays and who is paid', async () => {
    const profile = await world.createProfile({ BTC: '2' });
    const { id } = await world.withdrawCrypto(profile, {
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      memo: 'Invoice 7',
      beneficiary: { person_details: { first_name: 'Grace', last_name: 'Hopper' } },
    });
    await world.database.query(
      `insert into customers (id, name, integration, created_at_ns) values ($1, 'Acme Brokers', 'FIRST_PARTY', 0)`,
      [world.caller.customerId],
    );
    await world.settle(node);
    expect(paid.find(({ key }) => key === id)).toMatchObject({
      memo: 'Invoice 7',
      beneficiary: { person_details: { first_name: 'Grace', last_name: 'Hopper' } },
      originator: { customerId: world.caller.customerId, profileId: profile, customerName: 'Acme Brokers' },
    });
  });

  it('fails a payment: the customer is shown the public reason, and operators the private one', async () => {
    const profile = await world.createProfile({ USD: '1000' });
    const { id } = await world.withdrawFiat(profile, await world.createAccount('wire'), {
      memo: 'sanctioned',
    });
    await world.settle(node);
    const transfer = await world.transferOf(id);
    expect(transfer.secondaryStatus).toEqual({
      name: 'FAILED_BY_RAIL',
      detail: 'Not possible. The full total was returned.',
    });
    expect(JSON.stringify(transfer, (_, value) => (typeof value === 'bigint' ? '' : value))).not.toContain(
      'list 7',
    );
    expect(await listNotes(world.database, id, 10)).toMatchObject([
      { kind: 'RAIL_REASON', detail: 'On list 7.', notedBy: 'rail:wire' },
    ]);
    const [stored] = await world.database.query<{ detail: string }>(
      'select detail from withdrawal_notes limit 1',
    );
    expect(stored!.detail).not.toContain('list');
  });
});
