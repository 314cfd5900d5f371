import { afterAll, beforeAll, expect, it } from 'vitest';
import { listStops } from '../../src/chains/lease-store.ts';
import { signedUnderWay } from '../../src/chains/under-way-store.ts';
import { freeze, lift } from '../../src/freezes/act.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { createEvmWorld, type EvmWorld } from '../support/evm-world.ts';
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

it('nothing is signed or sent that was assigned before the freeze; it is when the freeze is lifted', async () => {
  const before = { paid: await paid(), versions: await versions() };
  let profile = '';
  let made: Awaited<ReturnType<typeof freezeProfile>> | undefined;
  const node = await world.createNode({
    async checkpoint(name) {
      if (name === 'after it is signed, before the signature is committed')
        made ??= await freezeProfile(profile);
    },
  });
  profile = await world.createProfile({ ETH: '2' });
  const { id } = await world.withdraw(profile, 'ETH', '1', TO);
  await until('it is frozen', async () => {
    await world.turn(node);
    return made !== undefined;
  });
  expect(made).toMatchObject({ isInForce: true, submissionsUnderWay: 0 });
  for (let turns = 0; turns < 5; turns += 1) await world.turn(node);
  expect({ paid: await paid(), versions: await versions() }).toEqual(before);
  expect((await listStops(world.database)).map(({ code }) => code)).toEqual(['frozen']);
  await lift(world.database, made!.freeze.id, TESTER, 'test');
  await world.settle(node, [id]);
  expect(await paid()).toBe(before.paid + ETHER);
});
