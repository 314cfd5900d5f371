import Schema from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { CRYPTO_NETWORK_RECORDS, type CryptoNetwork } from './crypto.ts';
import { DEFAULT_ASSETS } from './default-assets.ts';
import { FIAT_KIND_RECORDS, type FiatKind } from './fiat.ts';
import { createNetworks, NETWORKS } from './register.ts';
import { instructionsShape } from './schema.ts';

describe('the register', () => {
  it('throws for a network without a record, and does not apply the rules of another network', () => {
    const unknown = 'TRON' as CryptoNetwork;
    const address = '0x52908400098527886E0F7030069857D2E4169EE7';
    expect(() => NETWORKS.addressFault(unknown, address)).toThrow('there is no crypto network TRON');
    expect(() => NETWORKS.canonicalAddress(unknown, address)).toThrow('TRON');
    expect(() => NETWORKS.canonicalTxHash(unknown, 'AB')).toThrow('TRON');
    expect(() => NETWORKS.numbersOutputs(unknown)).toThrow('TRON');
    expect(() => NETWORKS.fiat('constructor' as FiatKind)).toThrow(
      'there is no kind of fiat account constructor',
    );
    expect(NETWORKS.isFiatKind('toString')).toBe(false);
    expect(NETWORKS.isCryptoNetwork('wire')).toBe(false);
  });

  it('refuses a name that is both a crypto network and a kind of fiat account, since rails are found by name', () => {
    const { wire } = FIAT_KIND_RECORDS;
    const { BITCOIN } = CRYPTO_NETWORK_RECORDS;
    expect(() => createNetworks({ crypto: { wire: BITCOIN }, fiat: { wire } })).toThrow('wire is both');
  });

  it('has every transfer type once, including all that the interface lists', () => {
    expect(new Set(NETWORKS.transferTypes).size).toBe(NETWORKS.transferTypes.length);
    const listed = [
      'BANK_DEPOSIT',
      'BANK_WITHDRAWAL',
      'CBIT_DEPOSIT',
      'CBIT_WITHDRAWAL',
      'CRYPTO_DEPOSIT',
      'CRYPTO_WITHDRAWAL',
      'CUBIX_DEPOSIT',
      'CUBIX_WITHDRAWAL',
      'INTERNAL_TRANSFER_CREDIT',
      'INTERNAL_TRANSFER_DEBIT',
      'PLATFORM_TRANSFER_CREDIT',
      'PLATFORM_TRANSFER_DEBIT',
      'SEN_DEPOSIT',
      'SEN_WITHDRAWAL',
      'SIGNET_DEPOSIT',
      'SIGNET_WITHDRAWAL',
      'WIRE_DEPOSIT',
      'WIRE_WITHDRAWAL',
    ];
    expect(NETWORKS.transferTypes).toEqual(expect.arrayContaining(listed));
  });
});

describe('the records', () => {
  it.each(NETWORKS.cryptoNetworks)('%s has a default fee for every default asset on it', (network) => {
    const { withdrawalFees, native } = NETWORKS.crypto(network);
    const present = DEFAULT_ASSETS.filter(({ networks }) => networks[network] !== undefined);
    expect(present.map(({ code }) => code)).toContain(native.asset);
    expect(Object.keys(withdrawalFees).sort()).toEqual(present.map(({ code }) => code).sort());
  });

  it.each(NETWORKS.cryptoNetworks)('%s canonicalises a transaction hash as explorers write it', (network) => {
    const hash = 'AB'.repeat(32);
    const { chain } = NETWORKS.crypto(network).addresses;
    const expected = { EVM: `0x${hash.toLowerCase()}`, Solana: hash }[chain] ?? hash.toLowerCase();
    expect(NETWORKS.canonicalTxHash(network, hash)).toBe(expected);
  });

  it.each(NETWORKS.fiatKinds)("the sandbox's own %s account has the fields of its kind", (kind) => {
    const shape = instructionsShape(NETWORKS, 'whole');
    const own = { [kind]: NETWORKS.fiat(kind).sandboxInstructions };
    expect(Schema.Compile(shape).Check(own)).toBe(true);
    expect(Schema.Compile(shape).Check({ [kind]: { ...own[kind], surplus: '' } })).toBe(false);
  });
});

describe('default assets', () => {
  it('include those that docs/interface.md lists, on their networks', () => {
    const listed = DEFAULT_ASSETS.map(({ code, decimals, networks }) => [
      code,
      decimals,
      Object.keys(networks),
    ]);
    expect(Object.fromEntries(listed.map(([code, ...rest]) => [code, rest]))).toMatchObject({
      USD: [2, []],
      BTC: [8, ['BITCOIN']],
      BCH: [8, ['BITCOIN_CASH']],
      LTC: [8, ['LITECOIN']],
      ETH: [18, expect.arrayContaining(['ETHEREUM', 'BASE', 'ARBITRUM_ONE', 'INK'])],
      SOL: [9, ['SOLANA']],
      POL: [18, ['POLYGON_POS']],
      USDC: [6, ['ETHEREUM', 'SOLANA', 'POLYGON_POS', 'BASE', 'ARBITRUM_ONE']],
      PUSD: [6, ['ETHEREUM', 'SOLANA', 'BASE']],
    });
  });
});
