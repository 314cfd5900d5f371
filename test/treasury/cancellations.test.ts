import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listStops } from '../../src/chains/lease-store.ts';
import { SignerRefusal } from '../../src/chains/signer.ts';
import { newId } from '../../src/kernel/id.ts';
import { CancellationRefused } from '../../src/rails/treasury.ts';
import { type Anvil, LANE, startAnvil } from '../support/anvil.ts';
import { createEvmWorld, type EvmNode, type EvmWorld } from '../support/evm-world.ts';
import { until } from '../support/until.ts';

/** Payments that the signer does not sign, and that an operator ends. */

let anvil: Anvil;
let world: EvmWorld;
let node: EvmNode;
/** How the signer behaves. */
let mood: 'signs' | 'refuses' | 'signs, and the answer is lost' = 'signs';
const ETHER = 10n ** 18n;
const payee = (): string => `0x${newId().replaceAll('-', '')}00000001`;
const signal = (): AbortSignal => AbortSignal.timeout(30_000);

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
  node = await world.createNode({
    wrapSigner: (signer) => ({
      ...signer,
      async sign(request, given) {
        if (mood === 'refuses') throw new SignerRefusal('not-allowed', 'not on the allow-list');
        const signatures = await signer.sign(request, given);
        if (mood === 'signs') return signatures;
        throw new Error('the connection was lost');
      },
    }),
  });
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});
beforeEach(() => {
  mood = 'signs';
});

const nonce = async (): Promise<number> =>
  Number(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));
const cancel = (transferId: string) => node.treasury!.cancel({ transferId }, signal());

async function assigned(transferId: string): Promise<string> {
  let id = '';
  await until('the payment has an assignment', async () => {
    await world.turn(node);
    const rows = await world.database.query<{ id: string }>(
      'select assignment_id as id from chain_assignment_payments where key = $1 and active',
      [transferId],
    );
    id = rows[0]?.id ?? '';
    return id !== '';
  });
  return id;
}

describe('an operator', () => {
  it('ends a payment that the signer refuses: its nonce is used up, the lane goes on, the funds return', async () => {
    const profileId = await world.createProfile({ ETH: '5' });
    const [to, next] = [payee(), payee()];
    const before = await nonce();
    mood = 'refuses';
    const { id } = await world.withdraw(profileId, 'ETH', '1', to);
    const assignmentId = await assigned(id);
    expect((await listStops(world.database))[0]).toMatchObject({ code: 'signer-refused' });
    const cancelled = await cancel(id);
    expect(cancelled).toMatchObject({ assignmentId, cancellationId: expect.any(String) });
    mood = 'signs';
    const second = await world.withdraw(profileId, 'ETH', '2', next);
    const [first, after] = await world.settle(node, [id, second.id]);
    expect(first).toMatchObject({ status: 'FAILED' });
    expect(after).toMatchObject({ status: 'COMPLETED' });
    // The fee of the withdrawal that was made.
    expect(await world.available(profileId, 'ETH')).toBe('2.999');
    expect(await anvil.balance(to)).toBe(0n);
    expect(await anvil.balance(next)).toBe(2n * ETHER);
    await until('the cancellation is final', async () => {
      await world.turn(node);
      await anvil.mine(3);
      const rows = await world.database.query<{ state: string }>(
        'select state from chain_assignments where id = $1',
        [cancelled.cancellationId!],
      );
      return rows[0]!.state === 'SUCCEEDED';
    });
    expect(await nonce()).toBe(before + 2);
    await world.expectBooked();
  });

  it('cannot end a payment for which something was signed, even if the signature was lost', async () => {
    const profileId = await world.createProfile({ ETH: '5' });
    const to = payee();
    mood = 'signs, and the answer is lost';
    const { id } = await world.withdraw(profileId, 'ETH', '1', to);
    await assigned(id);
    await until('the signer has signed', async () => {
      await world.turn(node);
      return (await listStops(world.database))[0]?.code === 'signer-unreachable';
    });
    await expect(cancel(id)).rejects.toThrow(CancellationRefused);
    await expect(cancel(id)).rejects.toThrow('was signed: the chain decides about it');
    mood = 'signs';
    const [ended] = await world.settle(node, [id]);
    expect(ended).toMatchObject({ status: 'COMPLETED' });
    expect(await anvil.balance(to)).toBe(ETHER);
    await expect(cancel(id)).rejects.toThrow('Nothing was changed');
    await world.expectBooked();
  });

  it('ends a payment once, however often and at whatever moment: it is paid or returned, never both', async () => {
    const profileId = await world.createProfile({ ETH: '20' });
    const made = [];
    for (let count = 0; count < 8; count += 1) {
      const to = payee();
      made.push({ to, transfer: await world.withdraw(profileId, 'ETH', '1', to) });
    }
    const ids = made.map(({ transfer }) => transfer.id);
    await node.worker.runDue();
    const keeping = node.keepers[0]!.run();
    for (const id of ids)
      await Promise.all([cancel(id), cancel(id)].map((one) => one.catch(() => undefined)));
    await keeping;
    const ended = await world.settle(node, ids);
    for (const [index, { status }] of ended.entries())
      expect({ status, paid: await anvil.balance(made[index]!.to) }).toEqual({
        status,
        paid: status === 'COMPLETED' ? ETHER : 0n,
      });
    for (let round = 0; round < 5; round += 1) {
      await world.turn(node);
      await anvil.mine(3);
    }
    const completed = ended.filter(({ status }) => status === 'COMPLETED').length;
    expect(await world.available(profileId, 'ETH')).toBe(String((20_000 - completed * 1_001) / 1_000));
    await world.expectBooked();
  });

  it('is told if there is no such payment', async () => {
    await expect(cancel(newId())).rejects.toThrow('ETHEREUM has no payment');
    await expect(node.treasury!.cancel({ assignmentId: newId() }, signal())).rejects.toThrow(
      'ETHEREUM has no assignment',
    );
  });
});
