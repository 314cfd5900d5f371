import type { Static } from 'typebox';
import { parseAmount } from '../../kernel/amount.ts';
import { Type } from '../../kernel/type.ts';
import { LIMITS } from '../../limits.ts';
import type { CryptoNetwork, CryptoNetworkRecord } from '../../networks/crypto.ts';
import { EVM_ADDRESSES } from '../../networks/evm.ts';
import { type RailNode, type ReadContext, railKind } from '../../rails/kind.ts';
import { type ChainAdapter, type ChainOptions, openChain } from '../rail.ts';
import type { SignerAccount } from '../signer.ts';
import {
  checkSigner,
  openSigner,
  readSigner,
  SignerSetting,
  type SignerSettings,
  signedBy,
} from '../signer-settings.ts';
import { readTreasury, TREASURY_ENTRY, type TreasurySettings } from '../treasury-settings.ts';
import { addressesBelow } from './addresses.ts';
import { createEvmDriver } from './driver.ts';
import type { EvmSettings, Token } from './settings.ts';

/** The kind `evm`: Ethereum, and networks that run its virtual machine. */

const closed = { additionalProperties: false } as const;
const SECRET = 'an object with "env" (the name of a variable of the environment) or "file" (a path)';
const Secret = Type.Union(
  [Type.Object({ env: Type.String() }, closed), Type.Object({ file: Type.String() }, closed)],
  { expected: SECRET },
);
const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  expected: 'an address of 40 hexadecimal digits after 0x',
});
const Decimal = Type.String({ expected: 'a decimal string such as "0.5"' });
const positive = (max: number) =>
  Type.Integer({ minimum: 1, maximum: max, expected: `an integer from 1 to ${max}` });

const entrySchema = Type.Object(
  {
    nodes: Type.Array(
      Type.Union([Type.String(), Secret], { expected: `a URL, or ${SECRET} if the URL contains a key` }),
      { minItems: 1, maxItems: 10, expected: 'a list of 1 to 10 nodes' },
    ),
    nodes_agreeing: Type.Optional(positive(10)),
    chain_id: positive(Number.MAX_SAFE_INTEGER),
    signer: SignerSetting,
    lanes: Type.Optional(
      Type.Array(Address, {
        minItems: 1,
        maxItems: LIMITS.signerLanesMax,
        expected: `a list of 1 to ${LIMITS.signerLanesMax} addresses`,
      }),
    ),
    account: Type.Optional(
      Type.String({ pattern: '^xpub[1-9A-HJ-NP-Za-km-z]{100,112}$', expected: 'an xpub' }),
    ),
    confirmations: Type.Optional(
      Type.Object(
        {
          depth: Type.Optional(positive(10_000)),
          tag: Type.Optional(Type.Enum(['latest', 'safe', 'finalized'])),
        },
        closed,
      ),
    ),
    fees: Type.Object(
      {
        max_gwei: Decimal,
        tip_min_gwei: Type.Optional(Decimal),
        tip_max_gwei: Type.Optional(Decimal),
        bump_after_seconds: Type.Optional(positive(86_400)),
      },
      closed,
    ),
    first_nonce: Type.Optional(Type.Integer({ minimum: 0, expected: 'an integer from 0' })),
    in_flight_max: Type.Optional(positive(1_000)),
    traces: Type.Optional(Type.Boolean()),
    data_fee_oracle: Type.Optional(Address),
    ...TREASURY_ENTRY,
  },
  closed,
);
type Entry = Static<typeof entrySchema>;

/** As in the interface of the nodes: 1 gwei is a thousand million wei. */
const GWEI_DECIMALS = 9;
const TIP_GWEI: NonNullable<CryptoNetworkRecord['tipGwei']> = { min: '0.001', max: '5' };
/** Nodes promise to keep 16 transactions of an address, whatever their fee. */
const IN_FLIGHT_MAX = 16;
/** A transaction that offers enough is in one of the next few blocks. */
const BUMP_AFTER_BLOCKS = 6;
const BUMP_AFTER_MS_MIN = 20_000;

function unitsOf(text: string, decimals: number, path: string): bigint {
  const parsed = parseAmount(text, decimals);
  if (!parsed.ok) throw new Error(`${path} ${parsed.message}, not ${JSON.stringify(text)}`);
  return parsed.units;
}

function urlOf(node: Entry['nodes'][number], path: string, { secret }: ReadContext): string {
  const isSecret = typeof node !== 'string';
  const url = isSecret ? secret(node, path) : node;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(
      `${path} must be a URL that starts with https:// or http://${isSecret ? '' : `, not ${JSON.stringify(node)}`}`,
    );
  return url;
}

function tokensOf({ rail, path, assets }: ReadContext): Token[] {
  return assets.list.flatMap(({ code, networks }) => {
    const contract = networks[rail];
    if (contract === undefined || contract === 'native') return [];
    const fault = EVM_ADDRESSES.fault(contract);
    if (fault !== undefined)
      throw new Error(
        `${path} needs the contract of ${code}: ${JSON.stringify(contract)} in its asset's networks ${fault}`,
      );
    return [{ asset: code, contract: EVM_ADDRESSES.canonical(contract) }];
  });
}

function feesOf({ fees }: Entry, path: string, tip = TIP_GWEI): EvmSettings['fees'] {
  const gwei = (text: string, name: string): bigint => unitsOf(text, GWEI_DECIMALS, `${path}.fees.${name}`);
  const bounds = {
    maxFeeMax: gwei(fees.max_gwei, 'max_gwei'),
    tipMin: gwei(fees.tip_min_gwei ?? tip.min, 'tip_min_gwei'),
    tipMax: gwei(fees.tip_max_gwei ?? tip.max, 'tip_max_gwei'),
  };
  if (bounds.tipMin > bounds.tipMax)
    throw new Error(`${path}.fees.tip_min_gwei must not be above tip_max_gwei`);
  if (bounds.maxFeeMax === 0n) throw new Error(`${path}.fees.max_gwei must be more than 0`);
  return bounds;
}

export type Settings = {
  readonly evm: EvmSettings;
  readonly treasury: TreasurySettings;
  readonly signer: SignerSettings;
  /** Absent: that of the embedded signer. */
  readonly account: Pick<SignerAccount, 'lanes' | 'xpub'> | undefined;
};

/** From the configuration: the service starts while the signer does not answer, and takes no addresses from another one. */
function accountOf({ signer, lanes, account }: Entry, path: string): Settings['account'] {
  if (signer === 'embedded') {
    if (lanes === undefined && account === undefined) return undefined;
    throw new Error(`${path} must not have lanes or account: those of the embedded signer are used`);
  }
  if (lanes === undefined)
    throw new Error(`${path}.lanes must list the sending addresses that "ferry signer init" has printed`);
  return { lanes: lanes.map(EVM_ADDRESSES.canonical), ...(account !== undefined && { xpub: account }) };
}

function read(entry: Entry, context: ReadContext): Settings {
  const { path, networks } = context;
  const network = context.rail as CryptoNetwork;
  const { native, confirmations, blockMs, tipGwei } = networks.crypto(network);
  const agreeing = entry.nodes_agreeing ?? Math.max(1, Math.min(2, entry.nodes.length - 1));
  if (agreeing > entry.nodes.length)
    throw new Error(
      `${path}.nodes_agreeing must be at most ${entry.nodes.length}, the number of nodes, not ${agreeing}`,
    );
  const treasury = readTreasury(entry, context);
  const bumpMs = entry.fees.bump_after_seconds && entry.fees.bump_after_seconds * 1_000;
  return {
    signer: readSigner(entry, context),
    account: accountOf(entry, path),
    evm: {
      network,
      chainId: entry.chain_id,
      nodes: entry.nodes.map((node, index) => urlOf(node, `${path}.nodes[${index}]`, context)),
      nodesAgreeing: agreeing,
      policy: {
        depth: entry.confirmations?.depth ?? confirmations,
        tag: entry.confirmations?.tag ?? 'latest',
      },
      blockMs,
      native: native.asset,
      tokens: tokensOf(context),
      fees: feesOf(entry, path, tipGwei),
      bumpAfterMs: bumpMs ?? Math.max(BUMP_AFTER_MS_MIN, BUMP_AFTER_BLOCKS * blockMs),
      inFlightMax: entry.in_flight_max ?? IN_FLIGHT_MAX,
      firstNonce: BigInt(entry.first_nonce ?? 0),
      traces: entry.traces ?? false,
      dataFeeOracle: entry.data_fee_oracle,
      lowMark: treasury.low.get(native.asset),
      highMark: treasury.high.get(native.asset),
      coldAddress: treasury.coldAddress,
    },
    treasury,
  };
}

/** What a test may choose: how long leases last, where a keeper is stopped, and how long a node may take to answer. */
export type EvmOptions = Pick<ChainOptions, 'leaseMs' | 'checkpoint'> & { readonly callTimeoutMs?: number };

export async function openEvmRail(
  { evm, treasury, signer: place, account: configured }: Settings,
  node: RailNode,
  { callTimeoutMs = LIMITS.chainCallTimeoutMs, ...options }: EvmOptions = {},
): Promise<ChainAdapter> {
  const signer = openSigner(place, node);
  const { lanes, xpub } =
    configured ?? (await signer.account(evm.network, AbortSignal.timeout(LIMITS.railCallTimeoutMs)));
  const driver = await createEvmDriver({
    settings: evm,
    lanes,
    nowMs: () => node.clock.nowMs(),
    callTimeoutMs,
  });
  const account = xpub === undefined ? undefined : { xpub, derive: await addressesBelow(xpub) };
  const { network, policy, blockMs } = evm;
  const chain = { network, driver, signer, lanes, account, treasury, blockMs };
  return openChain({ ...chain, confirmations: policy.depth, ...options }, node);
}

export const evmKind = railKind({
  name: 'evm',
  serves: (rail, networks) =>
    networks.isCryptoNetwork(rail) && networks.crypto(rail).addresses === EVM_ADDRESSES,
  schema: entrySchema,
  read,
  open: (settings: Settings, node) => openEvmRail(settings, node),
  async check({ evm, signer, account }: Settings, signal) {
    const { network } = evm;
    const found = await checkSigner(signer, network, account ?? {}, signal);
    const isFaulty = found.some(({ isFault }) => isFault === true);
    const lanes =
      account?.lanes ?? (isFaulty ? [] : (await openSigner(signer).account(network, signal)).lanes);
    const driver = await createEvmDriver({
      settings: evm,
      lanes,
      nowMs: () => performance.timeOrigin + performance.now(),
      callTimeoutMs: LIMITS.chainCallTimeoutMs,
    });
    return [...found, ...(await driver.check(signal))];
  },
  signed: ({ evm, signer }: Settings, signal) => signedBy(signer, evm.network, signal),
});
