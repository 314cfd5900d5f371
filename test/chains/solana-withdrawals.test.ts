import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { createSolanaWorld, type SolanaWorld } from '../support/solana-world.ts';

let chain: TestChain;
let world: SolanaWorld;

beforeAll(async () => {
  chain = await startSolana();
  world = await createSolanaWorld(chain);
}, 120_000);
afterAll(async () => {
  await world?.drop();
  await chain?.stop();
});

const payee = async (): Promise<string> => (await chain.wallet()).address;
/** Rent that counts towards the bound of the day. */
const reserved = async (): Promise<bigint> => {
  const [row] = await world.database.query<{ lamports: bigint }>(
    'select coalesce(sum(lamports), 0)::numeric as lamports from rent_paid',
  );
  return row!.lamports;
};
const fees = async (): Promise<bigint> => (await world.ledger('network-fees:solana')).SOL ?? 0n;

describe('a withdrawal over Solana', () => {
  it.each([
    ['SOL', '1.5', 1_500_000_000n, 0],
    ['USDC', '2.5', 2_500_000n, 165],
    ['PUSD', '2.5', 2_500_000n, 170],
  ] as const)(
    'pays %s once, shows where, and its fee and rent are booked',
    async (asset, amount, units, accountBytes) => {
      const profileId = await world.createProfile({ [asset]: '10' });
      const to = await payee();
      const [before, reservedBefore] = [await fees(), await reserved()];
      const { id } = await world.withdraw(profileId, asset, amount, to);
      const [ended] = await world.settle(world.node, [id]);
      expect(ended).toMatchObject({
        status: 'COMPLETED',
        cryptoTxHash: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
        cryptoTxIndex: to,
      });
      expect(await world.received(asset, to)).toBe(units);
      const rent =
        accountBytes === 0
          ? 0n
          : BigInt(await chain.call<number>('getMinimumBalanceForRentExemption', accountBytes));
      expect(before - (await fees())).toBeGreaterThan(rent);
      expect((await reserved()) - reservedBefore).toBe(rent);
      await world.expectBooked();
    },
  );
});
