import { createChainProduction } from './chain-production.ts';
import { lamportsOf } from './solana-money.ts';
import { type Relay, startSolana, type TestChain } from './solana-node.ts';

/** Production with a Solana rail, as processes. */

const FUNDS = 100n;
const LAMPORTS = 1_000_000_000n;
const DEPOSIT_ADDRESSES = 30;
/** Slow enough that the scanner of a process keeps up with it on a busy machine. */
const SLOT_MS = 200;

export type SolanaProductionOptions = {
  /** The nodes of the service; the relay of the chain, if it is absent. */
  readonly relays?: (chain: TestChain) => Promise<readonly Relay[]>;
  readonly rail?: object;
};

export async function createSolanaProduction(options: SolanaProductionOptions = {}) {
  const chain = await startSolana(SLOT_MS);
  const relays = (await options.relays?.(chain)) ?? [chain.relay];
  let lane = '';
  const production = await createChainProduction({
    network: 'SOLANA',
    assets: { SOL: { decimals: 9, place: 'native' } },
    signer: { deposit_addresses: DEPOSIT_ADDRESSES },
    rail: () => ({
      kind: 'solana',
      nodes: relays.map(({ url }) => ({ url })),
      cluster: chain.genesisHash,
      nonce_accounts: 4,
      ...options.rail,
    }),
    async fund(keys) {
      [lane] = keys.lanes;
      chain.fund(lane, FUNDS * LAMPORTS);
    },
    opening: { SOL: String(FUNDS) },
    // Blocks come by themselves.
    pass: async () => undefined,
  });
  return {
    ...production,
    chain,
    relays,
    lane,
    /** Transactions on the chain that name the address and have the id of the transfer as a memo. */
    async timesPaid(transferId: string, address: string): Promise<number> {
      type Listed = readonly { memo: string | null; err: unknown }[];
      const listed = await chain.call<Listed>('getSignaturesForAddress', address, { limit: 100 });
      return listed.filter(({ memo, err }) => err === null && memo?.includes(transferId)).length;
    },
    /** What the lane and all addresses for deposits hold. */
    async held(addresses: readonly string[] = []): Promise<bigint> {
      const rows = await production.query<{ address: string }>('select address from chain_addresses');
      const own = new Set([lane, ...rows.map(({ address }) => address), ...addresses]);
      const held = await Promise.all([...own].map((address) => lamportsOf(chain, address)));
      return held.reduce((sum, units) => sum + units, 0n);
    },
    async remove(): Promise<void> {
      await production.remove();
      await chain.stop();
    },
  };
}

export type SolanaProduction = Awaited<ReturnType<typeof createSolanaProduction>>;
