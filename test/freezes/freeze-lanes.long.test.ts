import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../src/chains/keeper.ts';
import { listStops } from '../../src/chains/lease-store.ts';
import { signedUnderWay } from '../../src/chains/under-way-store.ts';
import type { Database } from '../../src/database/database.ts';
import { freeze, lift } from '../../src/freezes/act.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { createSolanaWorld, type SolanaWorld } from '../support/solana-world.ts';
import { until } from '../support/until.ts';
import { createUtxoWorld, hasLitecoind, payee, type UtxoWorld } from '../support/utxo-world.ts';

/** Frozen payments beside those of others in one transaction, on chains whose transactions make several payments. */

const TESTER = cliActor('tester');
const freezeProfile = (database: Database, subjectId: string) =>
  freeze(database, { scope: 'PROFILE', subjectId, reason: 'test', actor: TESTER }, [signedUnderWay]);
type Frozen = Awaited<ReturnType<typeof freezeProfile>>;

const UNSIGNED = 'after the assignment is committed, before it is signed';

type World<Node> = {
  readonly database: Database;
  readonly node: { readonly scanner: { stop(): void | Promise<void> } };
  createNode(options: { checkpoint(name: Checkpoint): Promise<void> }): Promise<Node>;
  createProfile(balances: Record<string, string>): Promise<string>;
  withdraw(profile: string, asset: string, amount: string, to: string): Promise<{ readonly id: string }>;
  turn(node: Node): Promise<void>;
  settle(node: Node, ids: readonly string[]): Promise<unknown>;
  transferOf(id: string): Promise<{ readonly status: string }>;
};

/** The other is paid while the first is frozen, and the first after that; each once. */
async function payBoth<Node>(
  world: World<Node>,
  asset: string,
  addresses: readonly [string, string],
  timesPaid: (transferId: string, index: 0 | 1) => Promise<number>,
): Promise<void> {
  const state = { profile: '', made: undefined as Frozen | undefined };
  const node = await world.createNode({
    async checkpoint(name) {
      if (name === UNSIGNED && state.profile !== '')
        state.made ??= await freezeProfile(world.database, state.profile);
    },
  });
  // One scanner at a time: that of the new node sees the change.
  await world.node.scanner.stop();
  // Without payments a keeper prepares its lane.
  for (let turns = 0; turns < 3; turns += 1) await world.turn(node);
  const other = await world.createProfile({ [asset]: '10' });
  state.profile = await world.createProfile({ [asset]: '10' });
  const { id: frozenId } = await world.withdraw(state.profile, asset, '1', addresses[0]);
  const { id: otherId } = await world.withdraw(other, asset, '1', addresses[1]);
  await until('one of them is frozen', async () => {
    await world.turn(node);
    return state.made !== undefined;
  });
  expect(state.made).toMatchObject({ isInForce: true, submissionsUnderWay: 0 });
  await world.settle(node, [otherId]);
  expect([await timesPaid(frozenId, 0), await timesPaid(otherId, 1)]).toEqual([0, 1]);
  expect((await world.transferOf(frozenId)).status).toBe('PENDING');
  expect(await listStops(world.database)).toEqual([]);
  await lift(world.database, state.made!.freeze.id, TESTER, 'test');
  await world.settle(node, [frozenId]);
  expect([await timesPaid(frozenId, 0), await timesPaid(otherId, 1)]).toEqual([1, 1]);
}

describe('on Solana', () => {
  let chain: TestChain;
  let world: SolanaWorld;
  beforeAll(async () => {
    chain = await startSolana();
    world = await createSolanaWorld(chain);
  });
  afterAll(async () => {
    await world?.drop();
    await chain?.stop();
  });

  it('a frozen payment delays no other one of its transaction, and is made once after the freeze', async () => {
    const addresses = [(await chain.wallet()).address, (await chain.wallet()).address] as const;
    await payBoth(world, 'SOL', addresses, (id, index) => world.timesPaid(id, addresses[index]));
  });
});

describe.runIf(hasLitecoind)('on Litecoin', () => {
  let world: UtxoWorld;
  beforeAll(async () => {
    // One coin: whatever holds it stops everybody.
    world = await createUtxoWorld(1);
  });
  afterAll(() => world?.drop());

  it('a frozen payment delays no other one of its transaction, and is made once after the freeze', async () => {
    const payees = [payee(1), payee(2)] as const;
    await payBoth(
      world,
      'LTC',
      [payees[0].address, payees[1].address],
      async (_, index) => (await world.paidTo(payees[index].local)).length,
    );
  });
});
