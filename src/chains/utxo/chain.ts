import type { CryptoNetwork } from '../../networks/crypto.ts';

/** What sets the three networks and their chains apart. */

export type UtxoNetwork = Extract<CryptoNetwork, 'BITCOIN' | 'LITECOIN' | 'BITCOIN_CASH'>;

export const UTXO_NETWORKS: readonly UtxoNetwork[] = ['BITCOIN', 'LITECOIN', 'BITCOIN_CASH'];

/** The main chain, a public test chain, or a chain of one's own. */
export type ChainName = 'main' | 'test' | 'regtest';

export type AddressForm = {
  /** Of segwit addresses (Bitcoin, Litecoin) or cashaddr ones (Bitcoin Cash). */
  readonly prefix: string;
  /** Version bytes of base58 addresses; absent where they are not accepted. */
  readonly base58?: { readonly keyHash: number; readonly scriptHash: number };
};

export type Chain = {
  readonly network: UtxoNetwork;
  readonly name: ChainName;
  readonly asset: string;
  readonly form: AddressForm;
  /** On a test chain, addresses of the main one mean the same script, and are accepted. */
  readonly acceptedForms: readonly AddressForm[];
  /** Whether signatures stand in the witness, which counts a quarter. */
  readonly hasSegwit: boolean;
  /** Whether nodes replace an unconfirmed transaction by one that pays more. */
  readonly hasReplacement: boolean;
  /** Signs all inputs and outputs; Bitcoin Cash adds a flag against replay on Bitcoin. */
  readonly sighash: number;
  /** Nodes do not relay an output that is worth less than spending it costs at this rate (units per 1,000 bytes). */
  readonly dustRate: bigint;
  readonly genesis: readonly string[];
  /** Bitcoin and Bitcoin Cash have the same first block; this later one is on only one of them. */
  readonly marker?: { readonly height: number; readonly hash: string };
};

type Family = Omit<Chain, 'name' | 'form' | 'acceptedForms' | 'genesis' | 'marker'> & {
  readonly chains: Readonly<
    Record<ChainName, { readonly form: AddressForm } & Pick<Chain, 'genesis' | 'marker'>>
  >;
};

const BITCOIN_GENESIS = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
const TESTNET_3_GENESIS = '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943';
const REGTEST_GENESIS = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206';

const FAMILIES: Readonly<Record<UtxoNetwork, Family>> = {
  BITCOIN: {
    network: 'BITCOIN',
    asset: 'BTC',
    hasSegwit: true,
    hasReplacement: true,
    sighash: 0x01,
    dustRate: 3_000n,
    chains: {
      main: {
        form: { prefix: 'bc', base58: { keyHash: 0x00, scriptHash: 0x05 } },
        genesis: [BITCOIN_GENESIS],
        // The first block with segwit, three weeks after Bitcoin Cash had split off.
        marker: { height: 481_824, hash: '0000000000000000001c8018d9cb3b742ef25114f27563e3fc4a1902167f9893' },
      },
      test: {
        form: { prefix: 'tb', base58: { keyHash: 0x6f, scriptHash: 0xc4 } },
        genesis: [
          TESTNET_3_GENESIS,
          // Testnet 4 and signet.
          '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
          '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
        ],
      },
      regtest: {
        form: { prefix: 'bcrt', base58: { keyHash: 0x6f, scriptHash: 0xc4 } },
        genesis: [REGTEST_GENESIS],
      },
    },
  },
  LITECOIN: {
    network: 'LITECOIN',
    asset: 'LTC',
    hasSegwit: true,
    // Nodes of Litecoin do not replace unless they are started with -mempoolreplacement.
    hasReplacement: false,
    sighash: 0x01,
    dustRate: 30_000n,
    chains: {
      main: {
        form: { prefix: 'ltc', base58: { keyHash: 0x30, scriptHash: 0x32 } },
        genesis: ['12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2'],
      },
      test: {
        form: { prefix: 'tltc', base58: { keyHash: 0x6f, scriptHash: 0x3a } },
        genesis: ['4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0'],
      },
      regtest: {
        form: { prefix: 'rltc', base58: { keyHash: 0x6f, scriptHash: 0x3a } },
        genesis: ['530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9'],
      },
    },
  },
  BITCOIN_CASH: {
    network: 'BITCOIN_CASH',
    asset: 'BCH',
    hasSegwit: false,
    hasReplacement: false,
    sighash: 0x41,
    dustRate: 3_000n,
    chains: {
      main: {
        form: { prefix: 'bitcoincash' },
        genesis: [BITCOIN_GENESIS],
        // The first block of its own.
        marker: { height: 478_559, hash: '000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec' },
      },
      test: {
        form: { prefix: 'bchtest' },
        // Testnets 3 and 4, and chipnet, which shares the first block of testnet 4.
        genesis: [TESTNET_3_GENESIS, '000000001dd410c49a788668ce26751718cc797474d3152a5fc073dd44fd9f7b'],
      },
      regtest: { form: { prefix: 'bchreg' }, genesis: [REGTEST_GENESIS] },
    },
  },
};

export function chainOf(
  network: UtxoNetwork,
  name: ChainName,
  hasReplacement = FAMILIES[network].hasReplacement,
): Chain {
  const { chains, ...family } = { ...FAMILIES[network], hasReplacement };
  const { form, ...others } = chains[name];
  const acceptedForms = name === 'main' ? [form] : [form, chains.main.form];
  return { ...family, ...others, name, form, acceptedForms };
}
