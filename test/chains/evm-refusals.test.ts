import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listStops } from '../../src/chains/lease-store.ts';
import { resolve } from '../../src/chains/resolve.ts';
import { type RefusalCode, SignerRefusal, type SignRequest } from '../../src/chains/signer.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { LIMITS } from '../../src/limits.ts';
import { type Anvil, LANE, startAnvil } from '../support/anvil.ts';
import { createEvmWorld, type EvmNode, type EvmWorld } from '../support/evm-world.ts';
import { until } from '../support/until.ts';

/** What a keeper does with the answers of a signer that does not sign. */

const TO = '0x00000000000000000000000000000000000a11ce';
const ETHER = 10n ** 18n;
let anvil: Anvil;
let world: EvmWorld;
let node: EvmNode;
/** What the signer answers instead of a signature. */
let answer: Error | undefined;
const asked: SignRequest[] = [];

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
  node = await world.createNode({
    wrapSigner: (signer) => ({
      ...signer,
      async sign(request, signal) {
        asked.push(request);
        if (answer !== undefined) throw answer;
        return signer.sign(request, signal);
      },
    }),
  });
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});
beforeEach(() => {
  asked.length = 0;
});

const stop = async () => (await listStops(world.database))[0];
const refusal = (code: RefusalCode): SignerRefusal => new SignerRefusal(code, 'the reason');
const paid = async (): Promise<bigint> => anvil.balance(TO);

/** Gives turns until the keeper has asked. */
async function withdrawRefused(error: Error): Promise<string> {
  answer = error;
  const profile = await world.createProfile({ ETH: '2' });
  const { id } = await world.withdraw(profile, 'ETH', '1', TO);
  await until('the signer was asked', async () => {
    await world.turn(node);
    return asked.length > 0;
  });
  return id;
}

describe('a keeper whose signer', () => {
  it('has reached its limits waits, asks again after a while, and pays without an operator', async () => {
    const before = await paid();
    const id = await withdrawRefused(refusal('over-velocity'));
    expect(await stop()).toMatchObject({
      code: 'over-velocity',
      task: LANE,
      reason: 'the reason',
      needsOperator: false,
    });
    await world.turn(node);
    await world.turn(node);
    expect(asked).toHaveLength(1);
    answer = undefined;
    const isAsked = async (): Promise<boolean> => {
      await world.turn(node);
      return asked.length > 1;
    };
    await until('the signer was asked again', isAsked, 250);
    await world.settle(node, [id]);
    expect((await paid()) - before).toBe(ETHER);
    await world.turn(node);
    expect(await stop()).toBeUndefined();
    expect(LIMITS.chainVelocityRetryMs).toBeGreaterThan(1_000);
  });

  it('does not answer waits, and pays as soon as it does', async () => {
    const before = await paid();
    const id = await withdrawRefused(new Error('connect ECONNREFUSED'));
    expect(await stop()).toMatchObject({ code: 'signer-unreachable', needsOperator: false });
    answer = undefined;
    await world.settle(node, [id]);
    expect((await paid()) - before).toBe(ETHER);
  });

  it.each(['other-payment', 'not-allowed', 'already-signed-elsewhere'] as const)(
    'refuses with %s stops the lane, and is asked again only when an operator resumes it',
    async (code) => {
      const before = await paid();
      const id = await withdrawRefused(refusal(code));
      expect(await stop()).toMatchObject({
        code: 'signer-refused',
        reason: `${code}: the reason`,
        needsOperator: true,
      });
      answer = undefined;
      await world.turn(node);
      await world.turn(node);
      expect(asked).toHaveLength(1);
      expect(await paid()).toBe(before);
      const lane = { network: 'ETHEREUM', task: LANE, feeAsset: 'ETH', actor: cliActor('tester') };
      expect(await resolve(world.database, lane)).toBeUndefined();
      await world.settle(node, [id]);
      expect((await paid()) - before).toBe(ETHER);
    },
  );
});
