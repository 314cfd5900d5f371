import { afterAll, beforeAll, expect, it } from 'vitest';
import { stagedUnderWay } from '../../src/banks/under-way-store.ts';
import { freeze, lift } from '../../src/freezes/act.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import { type BankWorld, createBankWorld } from '../banks/bank-world.ts';

const TESTER = cliActor('tester');

/** Files of payments for a bank. */
let world: BankWorld;
beforeAll(async () => {
  world = await createBankWorld();
});
afterAll(() => world.remove());

/** A payment of a withdrawal of that profile, accepted by the rail. */
async function submitFor(profile: string, amount: string): Promise<string> {
  const key = await world.submit(amount);
  await world.database.query(
    `insert into withdrawal_work (transfer_id, customer_id, profile_id, rail, state, due_at_ns)
     values ($1, $2, $3, 'wire', 'SUBMITTED', 0)`,
    [key, newId(), profile],
  );
  return key;
}

async function createProfile(): Promise<string> {
  const id = newId();
  await world.database.query(
    `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, 'one', 'NORMAL', 0)`,
    [id, newId()],
  );
  return id;
}

const freezeProfile = (subjectId: string) =>
  freeze(world.database, { scope: 'PROFILE', subjectId, reason: 'test', actor: TESTER }, [stagedUnderWay]);
const stateOf = async (key: string): Promise<string> => (await world.ask(key)).kind;

it('a payment of a frozen profile is in no file until the freeze is lifted', async () => {
  const [frozenOne, other] = [await createProfile(), await createProfile()];
  const made = await freezeProfile(frozenOne);
  const keys = [await submitFor(frozenOne, '10'), await submitFor(other, '11')];
  await world.settle();
  expect([await stateOf(keys[0]!), await stateOf(keys[1]!)]).toEqual(['pending', 'completed']);
  await lift(world.database, made.freeze.id, TESTER, 'test');
  await world.settle();
  expect(await stateOf(keys[0]!)).toBe('completed');
});

it('a file that is made and not staged is dissolved, and the payments of others go out with the next one', async () => {
  const [frozenOne, other] = [await createProfile(), await createProfile()];
  const keys = [await submitFor(frozenOne, '20'), await submitFor(other, '21')];
  let made: Awaited<ReturnType<typeof freezeProfile>> | undefined;
  const node = world.node({
    async checkpoint(name) {
      if (name === 'its bytes are at the bank') made ??= await freezeProfile(frozenOne);
    },
  });
  await node.turn();
  expect(made).toMatchObject({ isInForce: true, submissionsUnderWay: 0 });
  await world.settle();
  expect([await stateOf(keys[0]!), await stateOf(keys[1]!)]).toEqual(['pending', 'completed']);
  const states = (await world.filesOf()).map(({ state }) => state);
  expect(states.slice(-2)).toEqual(['DISSOLVED', 'ACKNOWLEDGED']);
  const { payments } = await world.bank.record();
  expect(payments.filter(({ amount }) => amount.startsWith('20'))).toEqual([]);
  await lift(world.database, made!.freeze.id, TESTER, 'test');
  await world.settle();
  expect(await stateOf(keys[0]!)).toBe('completed');
  expect((await world.bank.record()).payments.filter(({ amount }) => /^2[01]/.test(amount))).toHaveLength(2);
});
