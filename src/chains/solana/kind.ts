import type { Static } from 'typebox';
import { parseAmount } from '../../kernel/amount.ts';
import { Type } from '../../kernel/type.ts';
import { LIMITS } from '../../limits.ts';
import { CRYPTO_NETWORK_RECORDS, type CryptoNetwork } from '../../networks/crypto.ts';
import { type RailNode, type ReadContext, railKind } from '../../rails/kind.ts';
import { type ChainAdapter, type ChainOptions, openChain } from '../rail.ts';
import type { Signer } from '../signer.ts';
import {
  checkSigner,
  openSigner,
  readSigner,
  SignerSetting,
  type SignerSettings,
  signedBy,
} from '../signer-settings.ts';
import { readTreasury, TREASURY_ENTRY, type TreasurySettings } from '../treasury-settings.ts';
import { depositPool } from './deposit-addresses.ts';
import type { SolanaDriver } from './driver.ts';
import type { SolanaNode, SolanaSettings, SolanaToken } from './settings.ts';

/** `"kind": "solana"` in the configuration file. */

const closed = { additionalProperties: false } as const;

/** The genesis hashes of the public clusters. */
const CLUSTERS: Readonly<Record<string, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSGkY3zQawwpjk2NsNY',
};

const Secret = Type.Union([
  Type.Object({ env: Type.String({ minLength: 1 }) }, closed),
  Type.Object({ file: Type.String({ minLength: 1 }) }, closed),
]);

const countOf = (max: number) =>
  Type.Integer({ minimum: 1, maximum: max, expected: `an integer from 1 to ${max}` });

const Price = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  expected: 'an integer from 0 to 1000000000',
});

export const SOLANA_SCHEMA = Type.Object(
  {
    nodes: Type.Array(
      Type.Object(
        {
          /** A secret if the provider's key is part of it. */
          url: Type.Union([Type.String({ minLength: 1 }), Secret], {
            expected: 'a URL, or where to read it',
          }),
          /** The value of the header `Authorization`. */
          authorization: Type.Optional(Secret),
        },
        closed,
      ),
      {
        minItems: 1,
        maxItems: LIMITS.solanaNodesMax,
        expected: `a list of 1 to ${LIMITS.solanaNodesMax} nodes`,
      },
    ),
    /** A public cluster, or the genesis hash of another one. */
    cluster: Type.Optional(
      Type.String({ minLength: 1, expected: 'the name or the genesis hash of a cluster' }),
    ),
    nodes_agreeing: Type.Optional(countOf(LIMITS.solanaNodesMax)),
    signer: SignerSetting,
    lanes: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { expected: 'a list of addresses' })),
    /** How often the scanner looks for new blocks. */
    scan_interval_ms: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 60_000, expected: 'an integer from 100 to 60000' }),
    ),
    nonce_accounts: Type.Optional(countOf(LIMITS.solanaNonceAccountsMax)),
    batch_payments_max: Type.Optional(countOf(LIMITS.solanaPaymentsMax)),
    /** In micro-lamports for a compute unit. */
    priority_price_min: Type.Optional(Price),
    priority_price_max: Type.Optional(Price),
    priority_percentile: Type.Optional(countOf(100)),
    ...TREASURY_ENTRY,
  },
  closed,
);

type Entry = Static<typeof SOLANA_SCHEMA>;

/** Unless the configuration says otherwise. */
const DEFAULTS = {
  cluster: 'mainnet-beta',
  nonceAccounts: 8,
  priceMin: 1_000,
  priceMax: 1_000_000,
  percentile: 75,
} as const;

function readNode(node: Entry['nodes'][number], path: string, { secret }: ReadContext): SolanaNode {
  const { url: given, authorization } = node;
  const url = typeof given === 'string' ? given : secret(given, `${path}.url`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new Error(`${path}.url must be an address with http or https`);
  }
  if (authorization === undefined) return { url, headers: {} };
  return {
    url,
    headers: { authorization: secret(authorization, `${path}.authorization`) },
  };
}

function readGenesis(cluster: string, { path, networks, rail }: ReadContext): string {
  const genesis = CLUSTERS[cluster] ?? cluster;
  const { addresses } = networks.crypto(rail as CryptoNetwork);
  // A genesis hash has the form of an address.
  if (addresses.recognise(genesis) !== undefined) return genesis;
  throw new Error(`${path}.cluster must be one of ${Object.keys(CLUSTERS).join(', ')}, or a genesis hash`);
}

/** The place of a token in the sandbox that is on no chain. */
const NOWHERE = 'sandbox';

function readTokens({ assets, networks, rail, mode }: ReadContext): SolanaToken[] {
  const { addresses } = networks.crypto(rail as CryptoNetwork);
  return assets.list.flatMap(({ code, decimals, networks: homes }): SolanaToken[] => {
    const mint = homes[rail];
    if (mint === undefined || mint === 'native') return [];
    if (mint === NOWHERE && mode === 'sandbox') return [];
    if (addresses.fault(mint) !== undefined) {
      throw new Error(`the asset ${code} needs the address of its mint on ${rail}, not "${mint}"`);
    }
    return [{ asset: code, mint, decimals }];
  });
}

function readMark(text: string | undefined, path: string, decimals: number): bigint | undefined {
  if (text === undefined) return undefined;
  const parsed = parseAmount(text, decimals);
  if (!parsed.ok) throw new Error(`${path} ${parsed.message}`);
  return parsed.units;
}

export function readSolana(entry: Omit<Entry, 'signer'>, context: ReadContext): SolanaSettings {
  const { path, rail, networks } = context;
  const record = networks.crypto(rail as CryptoNetwork);
  const nodes = entry.nodes.map((node, index) => readNode(node, `${path}.nodes[${index}]`, context));
  const nodesAgreeing = entry.nodes_agreeing ?? Math.min(2, nodes.length);
  if (nodesAgreeing > nodes.length) {
    throw new Error(`${path}.nodes_agreeing is ${nodesAgreeing}, but there are only ${nodes.length} nodes`);
  }
  const lanes = entry.lanes ?? [];
  for (const [index, lane] of lanes.entries()) {
    const fault = record.addresses.fault(lane);
    if (fault !== undefined)
      throw new Error(`${path}.lanes[${index}] is not an address on ${rail}: ${fault}`);
  }
  const priceMin = BigInt(entry.priority_price_min ?? DEFAULTS.priceMin);
  const priceMax = BigInt(entry.priority_price_max ?? DEFAULTS.priceMax);
  if (priceMin > priceMax) throw new Error(`${path}.priority_price_min is above ${path}.priority_price_max`);
  const { asset: native, decimals } = record.native;
  const lowMark = readMark(entry.low_mark, `${path}.low_mark`, decimals);
  const highMark = readMark(entry.high_mark, `${path}.high_mark`, decimals);
  if (lowMark !== undefined && highMark !== undefined && lowMark >= highMark) {
    throw new Error(`${path}.low_mark must be below ${path}.high_mark`);
  }
  return {
    network: rail as CryptoNetwork,
    nodes,
    genesisHash: readGenesis(entry.cluster ?? DEFAULTS.cluster, context),
    nodesAgreeing,
    confirmations: record.confirmations,
    blockMs: record.blockMs,
    scanPauseMs: entry.scan_interval_ms ?? record.blockMs,
    lanes,
    native,
    tokens: readTokens(context),
    nonceAccounts: entry.nonce_accounts ?? DEFAULTS.nonceAccounts,
    batchPaymentsMax: entry.batch_payments_max ?? LIMITS.solanaPaymentsMax,
    priority: { priceMin, priceMax, percentile: entry.priority_percentile ?? DEFAULTS.percentile },
    lowMark,
    highMark,
    coldAddress: entry.cold_address,
  };
}

/** The driver is loaded only for a rail that is configured. */
export async function createSolanaDriver(settings: SolanaSettings): Promise<SolanaDriver> {
  const { openSolana } = await import('./driver.ts');
  return openSolana(settings);
}

type Settings = {
  readonly solana: SolanaSettings;
  readonly treasury: TreasurySettings;
  readonly signer: SignerSettings;
};

/** What a test may choose: how long leases last, and where a keeper is stopped. */
export type SolanaOptions = Pick<ChainOptions, 'leaseMs' | 'checkpoint' | 'treasury' | 'movesMs'>;

/** The rail of an opened driver: the lanes that are configured, or all that the signer has. */
export async function openSolanaRail(
  settings: SolanaSettings,
  driver: SolanaDriver,
  signer: Signer,
  node: RailNode,
  options: SolanaOptions = {},
): Promise<ChainAdapter> {
  const { network, confirmations, blockMs, scanPauseMs } = settings;
  const { lanes, deposits = [] } = await signer.account(
    network,
    AbortSignal.timeout(LIMITS.railCallTimeoutMs),
  );
  const foreign = settings.lanes.find((lane) => !lanes.includes(lane));
  if (foreign !== undefined) throw new Error(`the signer has no key for the lane ${foreign} of ${network}`);
  const used = settings.lanes.length > 0 ? settings.lanes : lanes;
  return openChain(
    {
      ...options,
      network,
      driver,
      signer,
      lanes: used,
      // What they receive is no deposit.
      walletAddresses: used.map((address) => ({ address, path: 'lane' })),
      account: depositPool(network, deposits),
      async rentOf({ asset, amountUnits: units, destination }, signal) {
        // Coins need no account: no node is asked.
        if (!('address' in destination) || asset === settings.native) return 0n;
        return driver.rentOf({ asset, units, address: destination.address }, signal);
      },
      confirmations,
      blockMs,
      scanPauseMs,
    },
    node,
  );
}

export const SOLANA_KIND = railKind({
  name: 'solana',
  serves: (rail, networks) =>
    networks.isCryptoNetwork(rail) &&
    networks.crypto(rail).addresses.chain === CRYPTO_NETWORK_RECORDS.SOLANA.addresses.chain,
  schema: SOLANA_SCHEMA,
  read: (entry: Entry, context): Settings => ({
    solana: readSolana(entry, context),
    treasury: readTreasury(entry, context),
    signer: readSigner(entry, context),
  }),
  async open({ solana, treasury, signer }: Settings, node) {
    const driver = await createSolanaDriver(solana);
    return openSolanaRail(solana, driver, openSigner(signer, node), node, { treasury });
  },
  async check({ solana, signer }: Settings, signal) {
    const found = await checkSigner(signer, solana.network, { lanes: solana.lanes }, signal);
    const driver = await createSolanaDriver(solana);
    return [...found, ...(await driver.check(signal))];
  },
  signed: ({ solana, signer }: Settings, signal) => signedBy(signer, solana.network, signal),
});
