import {
  CashAddressNetworkPrefix,
  CashAddressType,
  encodeCashAddress,
  encodeCashAddressFormat,
} from '@bitauth/libauth';
import { bech32, bech32m } from '@scure/base';
import { Address, NETWORK, WIF } from '@scure/btc-signer';
import { describe, expect, test } from 'vitest';
import type { CryptoNetwork } from './crypto.ts';
import { NETWORKS } from './register.ts';

const { addressFault, cryptoNetworks } = NETWORKS;

const accepted: [CryptoNetwork, string, string][] = [
  ['BITCOIN', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'the P2PKH address of the genesis block'],
  ['BITCOIN', '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC', 'a P2SH address'],
  ['BITCOIN', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'BIP-173, version 0, 20 bytes, upper case'],
  ['BITCOIN', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'BIP-173, version 0, 20 bytes'],
  [
    'BITCOIN',
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    'BIP-173, version 0, 32 bytes',
  ],
  ['BITCOIN', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'BIP-350, version 1'],
  ['LITECOIN', 'LYhttvnKawAv6RcHQ4eBkNtifuiEA99PFe', 'a P2PKH address'],
  ['LITECOIN', 'ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w', 'a version 0 address'],
  ['BITCOIN_CASH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', 'cashaddr spec, P2PKH'],
  ['BITCOIN_CASH', 'bitcoincash:qr95sy3j9xwd2ap32xkykttr4cvcu7as4y0qverfuy', 'cashaddr spec, P2PKH'],
  ['BITCOIN_CASH', 'bitcoincash:qqq3728yw0y47sqn6l2na30mcw6zm78dzqre909m2r', 'cashaddr spec, P2PKH'],
  ['BITCOIN_CASH', 'bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq', 'cashaddr spec, P2SH'],
  ['BITCOIN_CASH', 'bitcoincash:pr95sy3j9xwd2ap32xkykttr4cvcu7as4yc93ky28e', 'cashaddr spec, P2SH'],
  ['BITCOIN_CASH', 'bitcoincash:pqq3728yw0y47sqn6l2na30mcw6zm78dzq5ucqzc37', 'cashaddr spec, P2SH'],
  ['BITCOIN_CASH', 'bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2', 'cashaddr spec, 20 bytes'],
  ['BITCOIN_CASH', 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', 'no prefix'],
  ['BITCOIN_CASH', 'BITCOINCASH:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A', 'upper case'],
  ['BITCOIN_CASH', 'bitcoincash:zr6m7j9njldwwzlg9v7v53unlr4jkmx6eycnjehshe', 'CashTokens spec, P2PKH'],
  ['BITCOIN_CASH', 'bitcoincash:rpawqn2h74a4t50phuza84kdp3794pq3cct3k50p0y', 'CashTokens spec, P2SH'],
  [
    'BITCOIN_CASH',
    'bitcoincash:pdzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3jh2p5nn',
    'CashTokens spec, P2SH of 32 bytes',
  ],
  [
    'BITCOIN_CASH',
    'bitcoincash:rdzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygrpttc42c',
    'CashTokens spec, token-aware P2SH of 32 bytes',
  ],
  ['ETHEREUM', '0x52908400098527886E0F7030069857D2E4169EE7', 'EIP-55, all upper'],
  ['ETHEREUM', '0x8617E340B3D01FA5F11F306F4090FD50E238070D', 'EIP-55, all upper'],
  ['ETHEREUM', '0xde709f2102306220921060314715629080e2fb77', 'EIP-55, all lower'],
  ['ETHEREUM', '0x27b1fdb04752bbc536007a920d24acb045561c26', 'EIP-55, all lower'],
  ['ETHEREUM', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'EIP-55, mixed'],
  ['POLYGON_POS', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 'EIP-55, mixed'],
  ['BASE', '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB', 'EIP-55, mixed'],
  ['ARBITRUM_ONE', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb', 'EIP-55, mixed'],
  ['INK', '0xD1220A0CF47C7B9BE7A2E6BA89F429762E7B9ADB', 'all upper, though its EIP-55 form is mixed'],
  ['INK', '0x1234567890123456789012345678901234567890', 'no letters at all'],
  ['SOLANA', '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', 'a wallet'],
  ['SOLANA', 'bc1fEu6D2x5rJRbY9r4SXkXYsW1t2kmwCKQYXfxxxxx', 'begins like a Bitcoin address'],
];

const privateKey = WIF().encode(new Uint8Array(32).fill(1));
const mweb =
  'ltcmweb1qqt9rwznnxzkghv4s5wgtwxs0m0ry6n3atp95f47slppapxljde3xyqmdlnrc8ag7y2k354jzdc4pc4ks0kr43jehr77lngdecgh6689nn5mgv5yn';

const refused: [CryptoNetwork, string, string][] = [
  // Not an address at all.
  ['BITCOIN', '', 'is empty'],
  ['SOLANA', '1'.repeat(129), 'is 129 characters long, no address has more than 128'],
  ['SOLANA', '2'.repeat(128), 'is 128 characters long, a base58 address has at most 44'],
  ['BITCOIN', ' 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'begins or ends with white space'],
  ['ETHEREUM', '0xde709f2102306220921060314715629080e2fb77\n', 'begins or ends with white space'],
  ['SOLANA', '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM\u00a0', 'begins or ends with white space'],
  [
    'BITCOIN',
    'bc1qw508d6qejxtdg4y5r3zarv\u0430ry0c5xw7kv8f3t4',
    'contains U+0430, an address is printable ASCII without spaces',
  ],
  [
    'BITCOIN',
    'bc1qw508d6qejx tdg4y5r3zarvary0c5xw7kv8f3t4',
    'contains U+0020, an address is printable ASCII without spaces',
  ],
  ['BITCOIN', 'alice', 'does not begin with 1, 3 or bc1'],
  ['LITECOIN', 'alice', 'does not begin with L, M or ltc1'],
  ['BITCOIN_CASH', 'alice', 'does not begin with q, p, z, r or bitcoincash:'],
  ['ETHEREUM', 'vitalik.eth', 'does not begin with 0x'],
  ['SOLANA', 'alice', 'contains "l", which base58 does not use'],
  ['BITCOIN', 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'is a URI, give the bare address'],
  ['ETHEREUM', 'ethereum:0xde709f2102306220921060314715629080e2fb77', 'is a URI, give the bare address'],
  ['BITCOIN', privateKey, 'is a private key, not an address'],
  ['BITCOIN_CASH', privateKey, 'is a private key, not an address'],

  // Base58 on Bitcoin and Litecoin.
  ['BITCOIN', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'fails its base58 checksum'],
  ['BITCOIN', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0', 'contains "0", which base58 does not use'],
  ['BITCOIN', '1A1zP1eP5QGefi2DMPTfTL5SLmv7Div', 'decodes to 23 bytes, a base58 Bitcoin address has 25'],
  ['BITCOIN', '1111111111111111111114oLvT2', 'carries a hash of zeros'],
  ['LITECOIN', 'LYhttvnKawAv6RcHQ4eBkNtifuiEA99PFf', 'fails its base58 checksum'],
  [
    'LITECOIN',
    '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC',
    'begins with 3 as a Bitcoin address does, give its form that begins with M',
  ],

  [
    'BITCOIN',
    Address({ ...NETWORK, scriptHash: 0x06 }).encode({ type: 'sh', hash: new Uint8Array(20).fill(255) }),
    "has version byte 0x06, which is not Bitcoin's",
  ],

  // BIP-173 and BIP-350, with what Ferry refuses beyond them.
  ['BITCOIN', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'fails its bech32 checksum'],
  ['BITCOIN', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj2', 'fails its bech32m checksum'],
  ['BITCOIN', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4', 'mixes upper and lower case'],
  ['BITCOIN', 'Bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'mixes upper and lower case'],
  [
    'BITCOIN',
    'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut',
    'does not begin with 1, 3 or bc1',
  ],
  [
    'BITCOIN',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
    'has a bech32 checksum where its witness version needs bech32m',
  ],
  [
    'BITCOIN',
    'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL',
    'has a bech32 checksum where its witness version needs bech32m',
  ],
  [
    'BITCOIN',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
    'has a bech32m checksum where its witness version needs bech32',
  ],
  [
    'BITCOIN',
    'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4',
    'contains "o", which bech32 does not use',
  ],
  [
    'BITCOIN',
    'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R',
    'has witness version 17, only 0 and 1 are in use',
  ],
  ['BITCOIN', 'BC1SW50QGDZ25J', 'has witness version 16, only 0 and 1 are in use'],
  ['BITCOIN', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', 'has witness version 2, only 0 and 1 are in use'],
  ['BITCOIN', 'bc1pw5dgrnzv', 'carries a 1-byte program, witness version 1 takes 32'],
  ['BITCOIN', 'bc1pfeessrawgf', 'carries a 2-byte program, witness version 1 takes 32'],
  [
    'BITCOIN',
    'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
    'carries a 40-byte program, witness version 1 takes 32',
  ],
  [
    'BITCOIN',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
    'carries a 41-byte program, witness version 1 takes 32',
  ],
  [
    'BITCOIN',
    'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P',
    'carries a 16-byte program, witness version 0 takes 20 or 32',
  ],
  ['BITCOIN', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf', 'has stray padding bits'],
  [
    'BITCOIN',
    'bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du',
    'has a bech32 checksum where its witness version needs bech32m',
  ],
  ['BITCOIN', 'bc1gmk9yu', 'is cut short'],
  ['BITCOIN', 'bc1', 'is cut short'],
  ['BITCOIN', `bc1${'q'.repeat(88)}`, 'is 91 characters long, a bech32 address has at most 90'],
  ['BITCOIN', bech32.encode('bc', [0, ...bech32.toWords(new Uint8Array(20))]), 'carries a hash of zeros'],
  [
    'BITCOIN',
    bech32m.encode('bc', [1, ...bech32m.toWords(new Uint8Array(32))]),
    'carries a taproot key that is not on the secp256k1 curve',
  ],
  [
    'BITCOIN',
    bech32m.encode('bc', [1, ...bech32m.toWords(new Uint8Array(32).fill(255))]),
    'carries a taproot key that is not on the secp256k1 curve',
  ],

  // The cashaddr spec, with what Ferry refuses beyond it.
  ['BITCOIN_CASH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6q', 'fails its cashaddr checksum'],
  ['BITCOIN_CASH', 'bitcoincash:q', 'fails its cashaddr checksum'],
  ['BITCOIN_CASH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdX6a', 'mixes upper and lower case'],
  ['BITCOIN_CASH', 'BITCOINCASH:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', 'mixes upper and lower case'],
  [
    'BITCOIN_CASH',
    'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a?amount=1',
    'contains "?", which cashaddr does not use',
  ],
  [
    'BITCOIN_CASH',
    'bitcoincash:0r6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2',
    'does not have q, p, z or r after its prefix',
  ],
  [
    'BITCOIN_CASH',
    'pref:pr6m7j9njldwwzlg9v7v53unlr4jkmx6ey65nvtks5',
    'has the prefix "pref", a Bitcoin Cash address has "bitcoincash"',
  ],
  [
    'BITCOIN_CASH',
    'bitcoincash:q9adhakpwzztepkpwp5z0dq62m6u5v5xtyj7j3h2ws4mr9g0',
    'carries a 24-byte hash, P2PKH takes 20',
  ],
  [
    'BITCOIN_CASH',
    'bitcoincash:qvch8mmxy0rtfrlarg7ucrxxfzds5pamg73h7370aa87d80gyhqxq5nlegake',
    'carries a 32-byte hash, P2PKH takes 20',
  ],
  [
    'BITCOIN_CASH',
    encodeCashAddressFormat({ payload: new Uint8Array(19).fill(1), prefix: 'bitcoincash', version: 0 })
      .address,
    'carries a 19-byte hash where its version byte says 20',
  ],
  [
    'BITCOIN_CASH',
    encodeCashAddressFormat({ payload: new Uint8Array(24).fill(1), prefix: 'bitcoincash', version: 9 })
      .address,
    'carries a 24-byte hash, P2SH takes 20 or 32',
  ],
  [
    'BITCOIN_CASH',
    encodeCashAddress({
      type: CashAddressType.p2sh,
      payload: new Uint8Array(20),
      prefix: CashAddressNetworkPrefix.mainnet,
    }).address,
    'carries a hash of zeros',
  ],
  [
    'BITCOIN_CASH',
    '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu',
    'is a legacy address, which Bitcoin shares, give its cashaddr form (bitcoincash:...)',
  ],
  [
    'BITCOIN_CASH',
    '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC',
    'is a legacy address, which Bitcoin shares, give its cashaddr form (bitcoincash:...)',
  ],

  // EVM networks and Solana.
  ['ETHEREUM', '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'fails its EIP-55 checksum'],
  ['ETHEREUM', '0x0000000000000000000000000000000000000000', 'is the zero address'],
  ['INK', '0xde709f2102306220921060314715629080e2fb7', 'has 39 hexadecimal digits, an EVM address has 40'],
  ['BASE', `0x${'ab'.repeat(32)}`, 'has 64 hexadecimal digits, an EVM address has 40'],
  ['BASE', '0xge709f2102306220921060314715629080e2fb77', 'contains "g", which is not a hexadecimal digit'],
  ['BASE', '0Xde709f2102306220921060314715629080e2fb77', 'does not begin with 0x'],
  ['BASE', 'de709f2102306220921060314715629080e2fb77', 'does not begin with 0x'],
  ['SOLANA', '11111111111111111111111111111111', 'is the System Program, not a wallet'],
  ['SOLANA', '1111111111111111111111111111111', 'decodes to 31 bytes, a Solana address has 32'],
  ['SOLANA', '111111111111111111111111111111111', 'decodes to 33 bytes, a Solana address has 32'],

  // Addresses of another network.
  [
    'BITCOIN',
    'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
    'is a Bitcoin testnet address',
  ],
  ['BITCOIN', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'is a Bitcoin testnet address'],
  ['LITECOIN', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'is a Litecoin testnet address'],
  ['BITCOIN_CASH', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'is a Bitcoin Cash testnet address'],
  ['SOLANA', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'is a Bitcoin testnet address, not a Solana one'],
  ['BITCOIN', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 'is a Bitcoin regtest address'],
  ['LITECOIN', 'tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0', 'is a Litecoin testnet address'],
  ['LITECOIN', 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0', 'is a Litecoin regtest address'],
  ['LITECOIN', mweb, 'is a Litecoin MWEB address'],
  ['BITCOIN', mweb, 'is a Litecoin MWEB address, not a Bitcoin one'],
  ['BITCOIN', 'LYhttvnKawAv6RcHQ4eBkNtifuiEA99PFe', 'is a Litecoin address, not a Bitcoin one'],
  ['BITCOIN', 'ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w', 'is a Litecoin address, not a Bitcoin one'],
  ['LITECOIN', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'is a Bitcoin address, not a Litecoin one'],
  ['LITECOIN', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'is a Bitcoin address, not a Litecoin one'],
  [
    'BITCOIN_CASH',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'is a Bitcoin address, not a Bitcoin Cash one',
  ],
  ['BITCOIN_CASH', 'bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t', 'is a Bitcoin Cash testnet address'],
  ['BITCOIN_CASH', 'pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t', 'is a Bitcoin Cash testnet address'],
  ['BITCOIN_CASH', 'bchreg:qr7fzmep8g7h7ymfxy74lgc0v950j3r295m39d8z59', 'is a Bitcoin Cash regtest address'],
  ['BITCOIN', 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', 'is a Bitcoin Cash address, not a Bitcoin one'],
  [
    'LITECOIN',
    'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
    'is a Bitcoin Cash address, not a Litecoin one',
  ],
  ['BITCOIN', '0xde709f2102306220921060314715629080e2fb77', 'is an EVM address, not a Bitcoin one'],
  ['SOLANA', '0xde709f2102306220921060314715629080e2fb77', 'is an EVM address, not a Solana one'],
  ['BITCOIN', '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', 'is a Solana address, not a Bitcoin one'],
  ['BITCOIN', 'bc1fEu6D2x5rJRbY9r4SXkXYsW1t2kmwCKQYXfxxxxx', 'is a Solana address, not a Bitcoin one'],
  ['ETHEREUM', '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', 'is a Solana address, not an Ethereum one'],
  ['ARBITRUM_ONE', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'is a Bitcoin address, not an Arbitrum one'],
  ['SOLANA', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'is a Bitcoin address, not a Solana one'],
  ['ETHEREUM', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'is a Tron address, not an Ethereum one'],
  ['LITECOIN', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L', 'is a Dogecoin address, not a Litecoin one'],
];

describe('known addresses', () => {
  test.each(accepted)('%s accepts %s (%s)', (network, address) => {
    expect(addressFault(network, address)).toBeUndefined();
  });

  test.each(refused)('%s refuses "%s" because it %s', (network, address, clause) => {
    expect(addressFault(network, address)).toBe(clause);
  });

  test('every EVM network accepts the same address', () => {
    for (const network of ['ETHEREUM', 'POLYGON_POS', 'BASE', 'ARBITRUM_ONE', 'INK'] as const) {
      expect(addressFault(network, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).toBeUndefined();
    }
  });

  test('white space before or after a valid address is refused', () => {
    for (const [network, address] of accepted) {
      for (const space of [' ', '\t', '\n', '\r\n', '\u00a0', '\u200b', '\ufeff', '\0']) {
        expect(addressFault(network, address + space)).toBeDefined();
        expect(addressFault(network, space + address)).toBeDefined();
      }
    }
  });

  test('a text of a megabyte is refused without being decoded', () => {
    // Decoding base58 takes quadratic time: a megabyte would take longer than the runner's timeout.
    for (const network of cryptoNetworks) {
      expect(addressFault(network, '2'.repeat(1_000_000))).toBe(
        'is 1000000 characters long, no address has more than 128',
      );
    }
  });
});
