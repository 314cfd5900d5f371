import { openSigner, readSigner } from '../../src/chains/signer-settings.ts';
import type { SolanaDriver } from '../../src/chains/solana/driver.ts';
import { createSolanaDriver, openSolanaRail } from '../../src/chains/solana/kind.ts';
import type { SolanaSettings } from '../../src/chains/solana/settings.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import type { ReadContext } from '../../src/rails/kind.ts';
import { type ChainNode, createChainWorld, type NodeOptions as OptionsOf } from './chain-world.ts';
import { createMint, lamportsOf, mintTo, signal, tokenUnits } from './solana-money.ts';
import type { TestChain } from './solana-node.ts';

/** The service without HTTP on the local Solana chain, whose blocks come by themselves. Nothing else does: a test gives turns. */

const NETWORK = 'SOLANA';
const DECIMALS = 6;
/** Nodes use the first one, unless they are told otherwise. */
const LANES = 8;

export type NodeOptions = OptionsOf<SolanaSettings>;
export type SolanaNode = ChainNode<SolanaDriver>;

const token = (code: string, mint: string) =>
  ({ code, decimals: DECIMALS, kind: 'STABLECOIN', networks: { [NETWORK]: mint } }) as const;

export async function createSolanaWorld(chain: TestChain, cold?: string) {
  const [plain, newer, taxed, unknown] = await Promise.all([
    createMint(chain, 'token'),
    createMint(chain, 'token-2022'),
    createMint(chain, 'token-2022', 100),
    createMint(chain, 'token'),
  ]);
  const mints = { USDC: plain, PUSD: newer, TAXED: taxed };
  const assets = createAssets([
    ...DEFAULT_ASSETS.filter(({ code }) => !(code in mints)),
    ...Object.entries(mints).map(([code, { address }]) => token(code, address)),
  ]);
  const context: ReadContext = {
    rail: NETWORK,
    path: 'rails.SOLANA',
    assets,
    networks: NETWORKS,
    mode: 'sandbox',
    secret: () => '',
  };
  const read = readSigner({ signer: 'embedded', ...(cold !== undefined && { cold_address: cold }) }, context);
  if (read.kind !== 'embedded') throw new Error('the signer of this world is embedded');
  const given = read.policy.networks.get(NETWORK)!;
  const networks = new Map([[NETWORK, { ...given, lanes: LANES }] as const]);
  const signerSettings = { ...read, policy: { ...read.policy, networks } };
  const account = () => openSigner(signerSettings).account(NETWORK, signal());
  const { lanes } = await account();
  const lane = lanes[0]!;
  for (const one of lanes) chain.fund(one, 1_000_000_000_000n);
  for (const mint of Object.values(mints)) await mintTo(chain, mint, lane, 10n ** 12n);
  const tokens = Object.entries(mints).map(([asset, { address: mint }]) => ({
    asset,
    mint,
    decimals: DECIMALS,
  }));

  const world = await createChainWorld<SolanaSettings, SolanaDriver>({
    network: NETWORK,
    assets,
    feeSchedule: { crypto: { TAXED: { [NETWORK]: '1' } } },
    rentLamportsPerDayMax: 10n ** 12n,
    wallet: lanes,
    async open({ settings: changes, wrapSigner, checkpoint, leaseMs, treasury }, node) {
      const settings = chain.settings({ tokens, lanes: [lane], coldAddress: cold, ...changes });
      const driver = await createSolanaDriver(settings);
      const signer = openSigner(signerSettings, node);
      const used = wrapSigner?.(signer) ?? signer;
      const own = { leaseMs, checkpoint, ...(treasury !== undefined && { treasury, movesMs: 0 }) };
      return { adapter: await openSolanaRail(settings, driver, used, node, own), driver };
    },
    // Blocks come by themselves.
    pass: () => new Promise((resolve) => setTimeout(resolve, 20)),
    roundsMax: 1_000,
  });
  return {
    ...world,
    chain,
    lane,
    lanes,
    account,
    mints,
    unknown,
    /** Everything that was signed for that transfer. */
    async bytesOf(transferId: string): Promise<string[]> {
      const rows = await world.database.query<{ bytes: string }>(
        `select v.bytes from chain_versions v join chain_assignment_payments p using (assignment_id) where p.key = $1`,
        [transferId],
      );
      return rows.map(({ bytes }) => bytes);
    },
    /** By anybody who has seen the bytes. Nodes may refuse what was executed before. */
    async sendAgain(bytes: string): Promise<void> {
      const wire = Buffer.from(bytes, 'hex').toString('base64');
      const options = { encoding: 'base64', skipPreflight: true };
      await chain.call('sendTransaction', wire, options).catch(() => undefined);
    },
    /** Transactions on the chain that name the address and have the id of the transfer as a memo. */
    async timesPaid(transferId: string, address: string): Promise<number> {
      type Listed = readonly { memo: string | null; err: unknown }[];
      const listed = await chain.call<Listed>('getSignaturesForAddress', address, { limit: 100 });
      return listed.filter(({ memo, err }) => err === null && memo?.includes(transferId)).length;
    },
    /** What an address has received of that asset. */
    async received(asset: string, address: string): Promise<bigint> {
      if (asset === 'SOL') return lamportsOf(chain, address);
      return (await tokenUnits(chain, mints[asset as keyof typeof mints], address)) ?? 0n;
    },
  };
}

export type SolanaWorld = Awaited<ReturnType<typeof createSolanaWorld>>;
