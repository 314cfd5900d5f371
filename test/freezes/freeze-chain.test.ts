import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Checkpoint } from '../../src/chains/keeper.ts';
import { listStops } from '../../src/chains/lease-store.ts';
import { signedUnderWay } from '../../src/chains/under-way-store.ts';
import { freeze, lift } from '../../src/freezes/act.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { type Anvil, LANE, startAnvil } from '../support/anvil.ts';
import { createEvmWorld, type EvmWorld, type NodeOptions } from '../support/evm-world.ts';
import { until } from '../support/until.ts';

const TESTER = cliActor('tester');

/** Payments on a chain, which are the service's own until they are signed. */
const TO = '0x00000000000000000000000000000000000f0235';
const ETHER = 10n ** 18n;
let anvil: Anvil;
let world: EvmWorld;
beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});
// Each test has a node of its own, which need not wait until the lease of the node before has expired.
beforeEach(() => world.database.query('delete from chain_leases'));

const freezeProfile = (subjectId: string) =>
  freeze(world.database, { scope: 'PROFILE', subjectId, reason: 'test', actor: TESTER }, [signedUnderWay]);
const paid = (): Promise<bigint> => anvil.balance(TO);
const versions = async (): Promise<number> =>
  (await world.database.query('select from chain_versions')).length;

it('nothing is assigned that was accepted and is frozen', async () => {
  const node = await world.createNode();
  const profile = await world.createProfile({ ETH: '2' });
  const { id } = await world.withdraw(profile, 'ETH', '1', TO);
  await node.worker.runDue();
  const made = await freezeProfile(profile);
  for (let turns = 0; turns < 5; turns += 1) await world.turn(node);
  expect([await paid(), await versions()]).toEqual([0n, 0]);
  await lift(world.database, made.freeze.id, TESTER, 'test');
  await world.settle(node, [id]);
  expect(await paid()).toBe(ETHER);
});

const slots = async (): Promise<(string | null)[]> =>
  (
    await world.database.query<{ slot: string | null }>(
      'select slot from chain_assignments order by assigned_at_ns, id',
    )
  ).map(({ slot }) => slot);
const nonces = async (): Promise<number> =>
  Number(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));
const codes = async (): Promise<string[]> => (await listStops(world.database)).map(({ code }) => code);

/** A node that freezes the profile once, at that point of its keeper. */
async function freezingNode(at: Checkpoint, options: NodeOptions = {}) {
  const state = { profile: '', made: undefined as Awaited<ReturnType<typeof freezeProfile>> | undefined };
  const node = await world.createNode({
    ...options,
    async checkpoint(name) {
      if (name === at && state.profile !== '') state.made ??= await freezeProfile(state.profile);
    },
  });
  return { node, state };
}

/** Gives turns until the withdrawal of a new profile is frozen. */
async function freezeOne({ node, state }: Awaited<ReturnType<typeof freezingNode>>): Promise<string> {
  state.profile = await world.createProfile({ ETH: '2' });
  const { id } = await world.withdraw(state.profile, 'ETH', '1', TO);
  await until('it is frozen', async () => {
    await world.turn(node);
    return state.made !== undefined;
  });
  return id;
}

const UNSIGNED = 'after the assignment is committed, before it is signed';

it('what is assigned and not signed gives its nonce to the next payment of the lane, and is paid once after the freeze', async () => {
  const before = { paid: await paid(), versions: await versions(), nonces: await nonces() };
  const frozenNode = await freezingNode(UNSIGNED);
  const { node, state } = frozenNode;
  const id = await freezeOne(frozenNode);
  expect(state.made).toMatchObject({ isInForce: true, submissionsUnderWay: 0 });
  const other = await world.createProfile({ ETH: '2' });
  const { id: otherId } = await world.withdraw(other, 'ETH', '1', TO);
  await world.settle(node, [otherId]);
  expect({ paid: await paid(), versions: await versions() }).toEqual({
    paid: before.paid + ETHER,
    versions: before.versions + 1,
  });
  expect((await world.transferOf(id)).status).toBe('PENDING');
  expect((await slots()).slice(-2)).toEqual([null, String(before.nonces)]);
  expect(await codes()).toEqual([]);
  await lift(world.database, state.made!.freeze.id, TESTER, 'test');
  await world.settle(node, [id]);
  expect([await paid(), await nonces()]).toEqual([before.paid + 2n * ETHER, before.nonces + 2]);
});

it('what is being signed when the freeze comes goes out, and the freeze answers after that', async () => {
  const before = { paid: await paid(), versions: await versions() };
  const state = { isAnswered: false, isEarly: false };
  let profile = '';
  let freezing: ReturnType<typeof freezeProfile> | undefined;
  const node = await world.createNode({
    async checkpoint(name) {
      if (name === 'after it is signed, before the signature is committed')
        freezing ??= freezeProfile(profile).finally(() => {
          state.isAnswered = true;
        });
      if (name === 'after it is signed, before the signature is committed' || name === SIGNED) {
        await sleep(200);
        state.isEarly ||= state.isAnswered;
      }
    },
  });
  profile = await world.createProfile({ ETH: '2' });
  const { id } = await world.withdraw(profile, 'ETH', '1', TO);
  await until('it is signed', async () => {
    await world.turn(node);
    return freezing !== undefined;
  });
  const made = await freezing!;
  expect(made).toMatchObject({ isInForce: true, submissionsUnderWay: 0 });
  expect([state.isEarly, await versions()]).toEqual([false, before.versions + 1]);
  await world.settle(node, [id]);
  expect(await paid()).toBe(before.paid + ETHER);
  await lift(world.database, made.freeze.id, TESTER, 'test');
});

const SIGNED = 'after the signature is committed, before the broadcast';

it('a keeper that dies between the promise of the signer and its commit leaves nothing that needs an operator', async () => {
  const before = await paid();
  let isDead = false;
  const frozenNode = await freezingNode(UNSIGNED, {
    wrapSigner: (signer) => ({
      ...signer,
      async discard(request, signal) {
        await signer.discard!(request, signal);
        if (isDead) return;
        isDead = true;
        throw new Error('the answer is lost');
      },
    }),
  });
  const { node, state } = frozenNode;
  const id = await freezeOne(frozenNode);
  expect([isDead, await codes()]).toEqual([true, ['signer-unreachable']]);
  await lift(world.database, state.made!.freeze.id, TESTER, 'test');
  await world.settle(node, [id]);
  expect(await paid()).toBe(before + ETHER);
});

it('what is signed and was never sent waits for the end of the freeze, with its lane, and is paid once', async () => {
  const before = { paid: await paid(), versions: await versions() };
  let deaths = 0;
  const node = await world.createNode({
    async checkpoint(name) {
      if (name !== 'after it is signed, before the signature is committed' || deaths > 0) return;
      deaths += 1;
      throw new Error('the keeper dies');
    },
  });
  const profile = await world.createProfile({ ETH: '2' });
  const { id } = await world.withdraw(profile, 'ETH', '1', TO);
  await until('the keeper has died', async () => {
    await world.turn(node).catch(() => undefined);
    return deaths > 0;
  });
  await world.database.query(`update chain_leases set leased_until_ns = 0 where task like 'signing %'`);
  const made = await freezeProfile(profile);
  expect(made).toMatchObject({ isInForce: true, submissionsUnderWay: 0 });
  for (let turns = 0; turns < 3; turns += 1) await world.turn(node);
  expect({ paid: await paid(), versions: await versions() }).toEqual(before);
  expect(await codes()).toEqual(['frozen']);
  await lift(world.database, made.freeze.id, TESTER, 'test');
  await world.settle(node, [id]);
  expect(await paid()).toBe(before.paid + ETHER);
});
