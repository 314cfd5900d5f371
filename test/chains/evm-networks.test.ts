import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evmKind, type Settings } from '../../src/chains/evm/kind.ts';
import type { EvmSettings } from '../../src/chains/evm/settings.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { type Anvil, hex, LANE, OUTSIDER, transferCall } from '../support/anvil.ts';
import { createWorldOn, type EvmWorld, startAnvil } from '../support/evm-world.ts';
import { IS_LONG, rounds } from '../support/rounds.ts';
import { type RpcProxy, startProxy } from '../support/rpc-proxy.ts';

/**
 * Each EVM network on a node with its chain id and its fees. The node really takes the fees of an OP-stack network from the wallet,
 * but its receipts do not name them: the proxy adds what the vaults of the network have received in the block.
 */

const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
const payee = (): string => `0x${newId().replaceAll('-', '')}00000001`;
const word = (value: bigint | number): string => `0x${value.toString(16).padStart(64, '0')}`;

const L1_BLOCK = '0x4200000000000000000000000000000000000015';
const L1_FEE_VAULT = '0x420000000000000000000000000000000000001A';
const ORACLE = '0x420000000000000000000000000000000000000F';
const OPERATOR = { scalar: 1_234n, constant: 5_678n };

/** What a network has of its own. `answer` changes what the node says, as its nodes would say it. */
type Network = {
  readonly chainId: number;
  readonly args: readonly string[];
  readonly entry?: object;
  readonly prepare?: (anvil: Anvil) => Promise<void>;
  readonly answer?: (anvil: Anvil) => RpcProxy['answer'];
  /** The least tip that its nodes accept. */
  readonly tipMin?: bigint;
};

async function takeDataFees(anvil: Anvil): Promise<void> {
  await anvil.call('anvil_setCode', [L1_BLOCK, '0x00']);
  // This node asks the sender of a call for that fee, too, and nobody is the sender of an eth_call.
  await anvil.call('anvil_setBalance', [`0x${'0'.repeat(40)}`, hex(ETHER)]);
  const slots = {
    1: word(10n * GWEI),
    // The scalars of the base fee and of the blob fee are in the middle of the word.
    3: `0x${'0'.repeat(24)}00000558000c5fc5${'0'.repeat(24)}`,
    7: word(GWEI),
    8: word((OPERATOR.scalar << 64n) + OPERATOR.constant),
  };
  for (const [slot, value] of Object.entries(slots))
    await anvil.call('anvil_setStorageAt', [L1_BLOCK, word(Number(slot)), value]);
}

function withDataFees(anvil: Anvil): RpcProxy['answer'] {
  const vaultAt = async (block: bigint): Promise<bigint> =>
    BigInt(await anvil.call<string>('eth_getBalance', [L1_FEE_VAULT, hex(block)]));
  async function complete(receipt: any): Promise<any> {
    const height = BigInt(receipt.blockNumber);
    const l1Fee = hex((await vaultAt(height)) - (await vaultAt(height - 1n)));
    return {
      ...receipt,
      l1Fee,
      operatorFeeScalar: hex(OPERATOR.scalar),
      operatorFeeConstant: hex(OPERATOR.constant),
    };
  }
  return async (method, result, params) => {
    if (method === 'eth_call' && params[0].to === ORACLE) return hex(20_000n * GWEI);
    if (method === 'eth_getTransactionReceipt') return result === null ? undefined : complete(result);
    if (method === 'eth_getBlockReceipts') return Promise.all(result.map(complete));
    return undefined;
  };
}

const OP_STACK = {
  args: ['--network', 'optimism', '--block-base-fee-per-gas', `${GWEI / 100n}`],
  entry: { data_fee_oracle: ORACLE },
  prepare: takeDataFees,
  answer: withDataFees,
};

const ON: Readonly<Record<string, Network>> = {
  ETHEREUM: { chainId: 1, args: ['--block-base-fee-per-gas', `${20n * GWEI}`] },
  POLYGON_POS: {
    chainId: 137,
    args: ['--block-base-fee-per-gas', `${30n * GWEI}`],
    tipMin: 25n * GWEI,
    // Its nodes suggest less than they accept when the network is idle.
    answer: () => (method) => (method === 'eth_maxPriorityFeePerGas' ? hex(GWEI) : undefined),
  },
  BASE: { chainId: 8_453, ...OP_STACK },
  ARBITRUM_ONE: {
    chainId: 42_161,
    args: ['--block-base-fee-per-gas', `${GWEI / 10n}`],
    // There is no tip, and the gas for the chain below is part of the gas.
    answer: () => (method, result) => {
      if (method === 'eth_maxPriorityFeePerGas') return '0x0';
      if (method !== 'eth_getTransactionReceipt' || result === null) return undefined;
      return { ...result, gasUsedForL1: '0x100' };
    },
  },
  INK: { chainId: 57_073, ...OP_STACK },
};

const tokensOf = (network: CryptoNetwork): string[] =>
  DEFAULT_ASSETS.filter(({ kind, networks }) => kind === 'STABLECOIN' && networks[network] !== undefined).map(
    ({ code }) => code,
  );

it('every EVM network of the register is here', () => {
  const known = NETWORKS.cryptoNetworks.filter((name) => evmKind.serves(name, NETWORKS));
  expect(Object.keys(ON).sort()).toEqual([...known].sort());
});

/** Of the quick run: one with the fees of Ethereum, and one that charges for its data on the chain below. */
const USUAL: readonly CryptoNetwork[] = ['ETHEREUM', 'BASE'];

describe.each(IS_LONG ? (Object.keys(ON) as CryptoNetwork[]) : USUAL)('%s', (network) => {
  const { chainId, args, entry = {}, prepare, answer, tipMin = 0n } = ON[network]!;
  const { native } = NETWORKS.crypto(network);
  // In the quick run one token: all of them are contracts of the same kind.
  const codes = tokensOf(network).slice(0, rounds(1, Infinity));
  let anvil: Anvil;
  let proxy: RpcProxy;
  let world: Omit<EvmWorld, 'contracts'>;
  const contracts: Record<string, string> = {};
  let profileId: string;

  beforeAll(async () => {
    anvil = await startAnvil('--chain-id', `${chainId}`, ...args);
    for (const code of codes) {
      contracts[code] = await anvil.deploy('Token', 10n ** 15n);
      await anvil.send({ from: LANE, to: contracts[code], data: transferCall(OUTSIDER, 10n ** 9n) });
    }
    await prepare?.(anvil);
    proxy = await startProxy(anvil.url);
    if (answer !== undefined) proxy.answer = answer(anvil);
    await anvil.mine(5);
    // As an operator configures it, with the default bounds on the tip.
    const raw = { kind: 'evm', chain_id: chainId, nodes: [proxy.url], signer: 'embedded', ...entry };
    const context = { rail: network, path: 'rails', networks: NETWORKS, mode: 'sandbox' } as const;
    const assets = createAssets(DEFAULT_ASSETS.filter(({ kind }) => kind !== 'STABLECOIN'));
    const settings = { ...raw, fees: { max_gwei: '1000' } };
    const { evm } = evmKind.read(settings as never, { ...context, assets, secret: () => '' }) as Settings;
    const { fees, dataFeeOracle } = evm satisfies EvmSettings;
    world = await createWorldOn(anvil, {
      network,
      chainId,
      url: proxy.url,
      tokens: contracts,
      settings: { fees, dataFeeOracle },
    });
    const balances = Object.fromEntries([native.asset, ...codes].map((code) => [code, '100']));
    profileId = await world.createProfile(balances);
    await world.turn(world.node);
  });
  afterAll(async () => {
    await world?.drop();
    await proxy?.stop();
    await anvil?.stop();
  });

  const heldBy = (code: string, address: string): Promise<bigint> =>
    code === native.asset ? anvil.balance(address) : anvil.tokens(contracts[code]!, address);
  const unitsOf = (code: string): bigint => (code === native.asset ? ETHER : 10n ** 6n);

  it.each([native.asset, ...codes])('pays %s once, and books the fee to the wei', async (code) => {
    const before = await anvil.balance(LANE);
    const to = payee();
    const { id } = await world.withdraw(profileId, code, '2', to);
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({ status: 'COMPLETED' });
    expect(await heldBy(code, to)).toBe(2n * unitsOf(code));
    const spent = before - (await anvil.balance(LANE)) - (code === native.asset ? 2n * ETHER : 0n);
    const [row] = await world.database.query<{ fee: bigint; hash: string }>(
      `select a.fee_units::numeric as fee, t.crypto_tx_hash as hash from chain_assignments a
       join chain_assignment_payments p on p.assignment_id = a.id join transfers t on t.id::text = p.key::text
       where p.key = $1`,
      [id],
    );
    expect(row!.fee).toBe(spent);
    const sent = await anvil.call<Record<string, string>>('eth_getTransactionByHash', [row!.hash]);
    expect(Number(sent.chainId)).toBe(chainId);
    expect(BigInt(sent.maxPriorityFeePerGas!)).toBeGreaterThanOrEqual(tipMin);
    await world.expectBooked();
  });

  it.each([native.asset, ...codes])('credits a deposit of %s once', async (code) => {
    const to = await world.depositAddress(world.node, profileId);
    const before = await world.available(profileId, code);
    const transfer =
      code === native.asset
        ? { to, value: 3n * ETHER }
        : { to: contracts[code]!, data: transferCall(to, 3n * 10n ** 6n) };
    await anvil.send(transfer);
    await anvil.mine(3);
    for (let turn = 0; turn < 3; turn += 1) await world.turn(world.node);
    expect(Number(await world.available(profileId, code)) - Number(before)).toBeCloseTo(3, 9);
    await world.expectBooked();
  });

  it(
    answer === withDataFees ? 'takes a fee for data and for the operator' : 'takes no fee for data',
    async () => {
      const vault = await anvil.balance(L1_FEE_VAULT);
      if (answer === withDataFees) expect(vault).toBeGreaterThan(0n);
      else expect(vault).toBe(0n);
      expect(await world.node.driver.quote(native.asset, AbortSignal.timeout(60_000))).toBeGreaterThan(
        answer === withDataFees ? 40_000n * GWEI : 0n,
      );
    },
  );
});
