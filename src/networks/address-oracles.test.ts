import { ECDH } from 'node:crypto';
import {
  CashAddressNetworkPrefix,
  CashAddressType,
  decodeCashAddress,
  encodeCashAddress,
  encodeCashAddressFormat,
} from '@bitauth/libauth';
import { base58, bech32, bech32m } from '@scure/base';
import { Address, NETWORK, TEST_NETWORK, utils } from '@scure/btc-signer';
import { getAddressDecoder, isAddress as isSolanaAddress } from '@solana/kit';
import fc from 'fast-check';
import { bytesToHex, getAddress, isAddress as isEvmAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { NETWORKS } from './register.ts';

const { addressFault, cryptoNetworks } = NETWORKS;

// The service decodes addresses with two small codecs. These tests compare it with the libraries that wallets use.
const litecoin = { ...NETWORK, bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32 };
const litecoinTestnet = { ...TEST_NETWORK, bech32: 'tltc', scriptHash: 0x3a };
const evmNetworks = ['ETHEREUM', 'POLYGON_POS', 'BASE', 'ARBITRUM_ONE', 'INK'] as const;

const bytesOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).filter((bytes) => bytes.some((byte) => byte > 0));
const hash20 = bytesOf(20);
const hash32 = bytesOf(32);
const taprootKey = hash32.filter(isPrivate).map((key) => utils.pubSchnorr(key));

/** Every kind of output for which Bitcoin and Litecoin have an address. */
const output = fc.oneof(
  fc.record({ type: fc.constant('pkh' as const), hash: hash20 }),
  fc.record({ type: fc.constant('sh' as const), hash: hash20 }),
  fc.record({ type: fc.constant('wpkh' as const), hash: hash20 }),
  fc.record({ type: fc.constant('wsh' as const), hash: hash32 }),
  fc.record({ type: fc.constant('tr' as const), pubkey: taprootKey }),
);

const cashOutput = fc.oneof(
  fc.record({ type: fc.constantFrom(...Object.values(CashAddressType)), payload: hash20 }),
  fc.record({ type: fc.constantFrom(CashAddressType.p2sh, CashAddressType.p2shWithTokens), payload: hash32 }),
);

const cashEncode = (from: { type: CashAddressType; payload: Uint8Array }, prefix: CashAddressNetworkPrefix) =>
  encodeCashAddress({ ...from, prefix }).address;

function isPrivate(key: Uint8Array): boolean {
  try {
    utils.pubSchnorr(key);
    return true;
  } catch {
    return false;
  }
}

function isOnCurve(x: Uint8Array): boolean {
  try {
    ECDH.convertKey(Buffer.concat([Buffer.of(2), x]), 'secp256k1');
    return true;
  } catch {
    return false;
  }
}

/** What btc-signer decodes, without what Ferry refuses on purpose: pay-to-anchor and keys off the curve. */
function isPayable(address: string, network: typeof NETWORK): boolean {
  try {
    const decoded = Address(network).decode(address);
    if (decoded.type === 'p2a') return false;
    return decoded.type !== 'tr' || isOnCurve(decoded.pubkey);
  } catch {
    return false;
  }
}

/** The text with one character replaced by another of the same alphabet. */
function withTypo(address: string, alphabet: string, at: number, by: number): string {
  const index = at % address.length;
  const letters = Array.from(alphabet).filter((letter) => letter !== address[index]);
  return address.slice(0, index) + letters[by % letters.length] + address.slice(index + 1);
}

const typo = fc.tuple(fc.nat(), fc.nat());
const base58Letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const bech32Letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

describe('Bitcoin and Litecoin against @scure/btc-signer', () => {
  test('an address that it encodes is accepted on its own network, and recognized on the other', () => {
    fc.assert(
      fc.property(output, (from) => {
        const bitcoinAddress = Address(NETWORK).encode(from);
        const litecoinAddress = Address(litecoin).encode(from);
        expect(addressFault('BITCOIN', bitcoinAddress)).toBeUndefined();
        expect(addressFault('LITECOIN', litecoinAddress)).toBeUndefined();
        expect(addressFault('BITCOIN', litecoinAddress)).toBe('is a Litecoin address, not a Bitcoin one');
        expect(addressFault('LITECOIN', bitcoinAddress)).toMatch(
          from.type === 'sh' ? /^begins with 3/ : /^is a Bitcoin address, not a Litecoin one$/,
        );
      }),
    );
  });

  test('a testnet address is reported as one', () => {
    fc.assert(
      fc.property(output, (from) => {
        expect(addressFault('BITCOIN', Address(TEST_NETWORK).encode(from))).toBe(
          'is a Bitcoin testnet address',
        );
        expect(addressFault('LITECOIN', Address(litecoinTestnet).encode(from))).toBe(
          'is a Litecoin testnet address',
        );
      }),
    );
  });

  test('an address with one character mistyped is refused', () => {
    fc.assert(
      fc.property(output, typo, (from, [at, by]) => {
        for (const [network, format] of [['BITCOIN', NETWORK] as const, ['LITECOIN', litecoin] as const]) {
          const address = Address(format).encode(from);
          const letters = from.type === 'pkh' || from.type === 'sh' ? base58Letters : bech32Letters;
          expect(addressFault(network, withTypo(address, letters, at, by))).toBeDefined();
        }
      }),
      { numRuns: 500 },
    );
  });

  test('it and Ferry agree on any witness version, length and checksum', () => {
    const words = fc.tuple(
      fc.oneof(fc.constantFrom(0, 1), fc.nat(31)),
      fc.oneof(fc.constantFrom(20, 32), fc.nat(42)).chain(bytesOrNone),
      fc.array(fc.nat(31), { maxLength: 1 }),
    );
    fc.assert(
      fc.property(
        words,
        fc.constantFrom(bech32, bech32m),
        fc.constantFrom('bc', 'ltc', 'tb'),
        (parts, codec, prefix) => {
          const [version, program, extra] = parts;
          const address = codec.encode(prefix, [version, ...codec.toWords(program), ...extra]);
          expect(addressFault('BITCOIN', address) === undefined).toBe(isPayable(address, NETWORK));
          expect(addressFault('LITECOIN', address) === undefined).toBe(isPayable(address, litecoin));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a 32-byte taproot program is accepted exactly when OpenSSL finds it on the curve', () => {
    fc.assert(
      fc.property(hash32, (program) => {
        const address = bech32m.encode('bc', [1, ...bech32m.toWords(program)]);
        expect(addressFault('BITCOIN', address) === undefined).toBe(isOnCurve(program));
      }),
      { numRuns: 300 },
    );
  });
});

describe('Bitcoin Cash against @bitauth/libauth', () => {
  test('an address that it encodes is accepted with and without its prefix, in either case', () => {
    fc.assert(
      fc.property(cashOutput, (from) => {
        const address = cashEncode(from, CashAddressNetworkPrefix.mainnet);
        const bare = address.slice(address.indexOf(':') + 1);
        for (const form of [address, bare, address.toUpperCase(), bare.toUpperCase()]) {
          expect(addressFault('BITCOIN_CASH', form)).toBeUndefined();
        }
        expect(addressFault('BITCOIN', bare)).toBe('is a Bitcoin Cash address, not a Bitcoin one');
      }),
    );
  });

  test('a testnet address is reported as one, with and without its prefix', () => {
    fc.assert(
      fc.property(cashOutput, (from) => {
        const address = cashEncode(from, CashAddressNetworkPrefix.testnet);
        for (const form of [address, address.slice(address.indexOf(':') + 1)]) {
          expect(addressFault('BITCOIN_CASH', form)).toBe('is a Bitcoin Cash testnet address');
        }
      }),
    );
  });

  test('an address with one character mistyped is refused', () => {
    fc.assert(
      fc.property(cashOutput, typo, (from, [at, by]) => {
        const bare = cashEncode(from, CashAddressNetworkPrefix.mainnet).slice('bitcoincash:'.length);
        const mistyped = `bitcoincash:${withTypo(bare, bech32Letters, at, by)}`;
        expect(decodeCashAddress(mistyped)).toBeTypeOf('string');
        expect(addressFault('BITCOIN_CASH', mistyped)).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  test('it and Ferry agree on any version byte, except for the hash lengths that no script uses', () => {
    const version = fc.oneof(fc.constantFrom(0, 8, 11, 16, 24, 27), fc.nat(255));
    const length = fc.oneof(fc.constantFrom(20, 32), fc.nat(40));
    fc.assert(
      fc.property(version, length.chain(bytesOrNone), (versionByte, payload) => {
        const { address } = encodeCashAddressFormat({ payload, prefix: 'bitcoincash', version: versionByte });
        const decoded = decodeCashAddress(address);
        const isPayableCash =
          typeof decoded !== 'string' &&
          (payload.length === 20 || (payload.length === 32 && decoded.type.startsWith('p2sh')));
        expect(addressFault('BITCOIN_CASH', address) === undefined).toBe(isPayableCash);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('EVM networks against viem', () => {
  const evmNetwork = fc.constantFrom(...evmNetworks);

  test('an address that it checksums is accepted, as are its lower and upper case forms', () => {
    fc.assert(
      fc.property(evmNetwork, hash20, (network, bytes) => {
        const address = getAddress(bytesToHex(bytes));
        expect(addressFault(network, address)).toBeUndefined();
        expect(addressFault(network, address.toLowerCase())).toBeUndefined();
        expect(addressFault(network, `0x${address.slice(2).toUpperCase()}`)).toBeUndefined();
      }),
    );
  });

  test('an address with one letter in the wrong case is refused where viem refuses it', () => {
    fc.assert(
      fc.property(evmNetwork, hash20, fc.nat(39), (network, bytes, at) => {
        const right = getAddress(bytesToHex(bytes)).slice(2);
        const letter = right[at]!;
        const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
        const digits = right.slice(0, at) + turned + right.slice(at + 1);
        const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
        const expected = isOneCase || isEvmAddress(`0x${digits}`) ? undefined : 'fails its EIP-55 checksum';
        expect(addressFault(network, `0x${digits}`)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});

describe('Solana against @solana/kit', () => {
  test('an address that it encodes is accepted, and recognized on every other network', () => {
    fc.assert(
      fc.property(hash32, (bytes) => {
        const address = getAddressDecoder().decode(bytes);
        expect(addressFault('SOLANA', address)).toBeUndefined();
        expect(addressFault('ETHEREUM', address)).toBe('is a Solana address, not an Ethereum one');
        expect(addressFault('BITCOIN', address)).toBe('is a Solana address, not a Bitcoin one');
        expect(addressFault('BITCOIN_CASH', address)).toBe('is a Solana address, not a Bitcoin Cash one');
      }),
    );
  });

  test('it and Ferry agree on base58 of any length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 28, max: 36 }).chain(bytesOf), (bytes) => {
        const address = base58.encode(bytes);
        expect(addressFault('SOLANA', address) === undefined).toBe(isSolanaAddress(address));
      }),
      { numRuns: 300 },
    );
  });
});

describe('any text', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 140 }),
    fc.string({ unit: 'binary', maxLength: 140 }),
    fc.string({ unit: fc.constantFrom(...Array.from(base58Letters)), maxLength: 140 }),
    fc
      .string({ unit: fc.constantFrom(...Array.from(bech32Letters)), maxLength: 120 })
      .map((data) => `bc1${data}`),
    fc
      .string({ unit: fc.constantFrom(...Array.from(bech32Letters)), maxLength: 120 })
      .map((data) => `bitcoincash:${data}`),
    fc
      .string({ unit: fc.constantFrom(...Array.from('0123456789abcdefABCDEF')), maxLength: 80 })
      .map((data) => `0x${data}`),
  );

  test('the result is undefined or one clause, and never an exception', () => {
    fc.assert(
      fc.property(fc.constantFrom(...cryptoNetworks), text, (network, address) => {
        const fault = addressFault(network, address);
        if (fault !== undefined)
          expect(fault).toMatch(/^(is|has|begins|does|contains|decodes|fails|carries|mixes) \S/);
      }),
      { numRuns: 2_000 },
    );
  });
});

function bytesOrNone(length: number): fc.Arbitrary<Uint8Array> {
  return length === 0 ? fc.constant(new Uint8Array()) : bytesOf(length);
}
