import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { NETWORK, OutScript, p2pkh, p2wpkh, Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  commit,
  MNEMONIC,
  makeDirectory,
  openTestSigner,
  removeDirectory,
  type TestSigner,
  withNetwork,
} from './support.ts';

/** PSBTs made with another library, whose signatures it verifies. */

let test: TestDatabase;
let tested: TestSigner;
const directory = makeDirectory();

beforeAll(async () => {
  test = await createTestDatabase();
  tested = await openTestSigner(test.database, { directory });
});
afterAll(async () => {
  await tested.close();
  await test.drop();
  removeDirectory(directory);
});

const seed = mnemonicToSeedSync(MNEMONIC);
const ACCOUNTS = { BITCOIN: "m/84'/0'/0'", LITECOIN: "m/84'/2'/0'", BITCOIN_CASH: "m/44'/145'/0'" } as const;
type Utxo = keyof typeof ACCOUNTS;
const keyAt = (network: Utxo, path: string) =>
  HDKey.fromMasterSeed(seed).derive(`${ACCOUNTS[network]}/${path}`).publicKey!;
const ownScript = (network: Utxo, path: string): Uint8Array =>
  (network === 'BITCOIN_CASH' ? p2pkh : p2wpkh)(keyAt(network, path), NETWORK).script;

const PAYEES = {
  BITCOIN: [
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
    '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  ],
  LITECOIN: ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
  BITCOIN_CASH: [
    'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
    'bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq',
  ],
} as const;
/** The scripts of those addresses, from public test vectors. */
const SCRIPTS = {
  BITCOIN: [
    '0014751e76e8199196d454941c45d1b3a323f1433bd6',
    '76a91477bff20c60e522dfaa3350c39b030a5d004e839a88ac',
    'a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87',
  ],
  LITECOIN: ['0014751e76e8199196d454941c45d1b3a323f1433bd6'],
  BITCOIN_CASH: [
    '76a91476a04053bda0a88bda5177b86a15c3b29f55987388ac',
    'a91476a04053bda0a88bda5177b86a15c3b29f55987387',
  ],
} as const;

const hash = (digit: number): string => String(digit).repeat(64);
let used = 0;

type Order = {
  network?: Utxo;
  payments?: readonly { address: string; units: bigint }[];
  purpose?: string;
  outputs: readonly { script: Uint8Array; units: bigint }[];
  /** Coins of the bytes, if they are not those of the assignment. */
  spends?: (coins: readonly Coin[]) => readonly Coin[];
  details?: Record<string, string>;
};
type Coin = { txHash: string; output: number; units: bigint; path: string };

async function prepare({
  network = 'BITCOIN',
  payments = [],
  purpose,
  outputs,
  spends,
  details = { changePath: '1/0' },
}: Order) {
  used += 2;
  const coins: Coin[] = [
    { txHash: hash(1), output: used, units: 60_000n, path: '0/3' },
    { txHash: hash(2), output: used + 1, units: 50_000n, path: '0/4' },
  ];
  const asset = { BITCOIN: 'BTC', LITECOIN: 'LTC', BITCOIN_CASH: 'BCH' }[network];
  const order = {
    network,
    lane: 'hot',
    coins,
    details,
    payments: payments.map((one) => ({ ...one, asset })),
  };
  const { id } = await commit(test.database, { ...order, ...(purpose !== undefined && { purpose }) });
  const psbt = new Transaction({ allowUnknownOutputs: true, allowLegacyWitnessUtxo: true });
  const spent = spends?.(coins) ?? coins;
  for (const { txHash, output, units, path } of spent)
    psbt.addInput({
      txid: txHash,
      index: output,
      witnessUtxo: { script: ownScript(network, path), amount: units },
    });
  for (const { script, units } of outputs) psbt.addOutput({ script, amount: units });
  return { id, psbt, coins: spent, bytes: Buffer.from(psbt.toPSBT(0)).toString('hex') };
}

const code = async (order: Order): Promise<string | undefined> => {
  const { id, bytes } = await prepare(order);
  return tested.codeFor(order.network ?? 'BITCOIN', id, bytes);
};

const script = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
const isValid = (publicKey: Uint8Array, digest: Uint8Array, signature: string): boolean =>
  new HDKey({ publicKey, chainCode: new Uint8Array(32) }).verify(digest, Buffer.from(signature, 'hex'));

describe('the signer signs on UTXO networks', () => {
  const change = (network: Utxo) => ({ script: ownScript(network, '1/0'), units: 9_000n });

  it.each(['BITCOIN', 'LITECOIN'] as const)(
    'several payments of %s with change, each input with the key of its coin',
    async (network) => {
      const [address] = PAYEES[network];
      const payments = [40_000n, 60_000n].map((units) => ({ address, units }));
      const outputs = [
        ...payments.map(({ units }) => ({ script: script(SCRIPTS[network][0]), units })),
        change(network),
      ];
      const { id, bytes, psbt, coins } = await prepare({ network, payments, outputs });
      const signatures = await tested.ask(network, id, bytes);
      expect(signatures).toHaveLength(2);
      for (const [index, { units, path }] of coins.entries()) {
        const publicKey = keyAt(network, path);
        const covered = OutScript.encode(OutScript.decode(p2pkh(publicKey).script));
        const digest = psbt.preimageWitnessV0(index, covered, 1, units);
        expect(isValid(publicKey, digest, signatures[index]!)).toBe(true);
      }
    },
  );

  it('payments of Bitcoin Cash, with its own type of signatures', async () => {
    const payments = PAYEES.BITCOIN_CASH.map((address) => ({ address, units: 50_000n }));
    const outputs = [
      ...SCRIPTS.BITCOIN_CASH.map((hex) => ({ script: script(hex), units: 50_000n })),
      change('BITCOIN_CASH'),
    ];
    const { id, bytes, coins } = await prepare({ network: 'BITCOIN_CASH', payments, outputs });
    const signatures = await tested.ask('BITCOIN_CASH', id, bytes);
    const { generateSigningSerializationBCH, SigningSerializationFlag, hash256, decodeTransactionCommon } =
      await import('@bitauth/libauth');
    const unsigned = Transaction.fromPSBT(Buffer.from(bytes, 'hex'), {
      allowUnknownOutputs: true,
      allowLegacyWitnessUtxo: true,
    }).unsignedTx;
    const transaction = decodeTransactionCommon(unsigned);
    if (typeof transaction === 'string') throw new Error(transaction);
    for (const [inputIndex, { units, path }] of coins.entries()) {
      const coveredBytecode = ownScript('BITCOIN_CASH', path);
      const sourceOutputs = coins.map((coin) => ({
        lockingBytecode: ownScript('BITCOIN_CASH', coin.path),
        valueSatoshis: coin.units,
      }));
      const serialization = generateSigningSerializationBCH(
        { inputIndex, sourceOutputs, transaction },
        {
          coveredBytecode,
          signingSerializationType: Uint8Array.of(
            SigningSerializationFlag.allOutputs | SigningSerializationFlag.forkId,
          ),
        },
      );
      expect(units).toBeGreaterThan(0n);
      expect(isValid(keyAt('BITCOIN_CASH', path), hash256(serialization), signatures[inputIndex]!)).toBe(
        true,
      );
    }
  });

  it('to every form of address', async () => {
    for (const [index, address] of PAYEES.BITCOIN.entries())
      expect(
        await code({
          payments: [{ address, units: 100_000n }],
          outputs: [{ script: script(SCRIPTS.BITCOIN[index]!), units: 100_000n }, change('BITCOIN')],
        }),
      ).toBeUndefined();
  });

  it('a consolidation to its own change address, and money for the cold wallet', async () => {
    const own = { script: ownScript('BITCOIN', '1/0'), units: 109_000n };
    expect(await code({ purpose: 'UPKEEP', outputs: [own] })).toBeUndefined();
    expect(await code({ purpose: 'CANCELLATION', outputs: [own] })).toBeUndefined();
    const cold = { script: script(SCRIPTS.BITCOIN[0]), units: 100_000n };
    expect(await code({ purpose: 'TO_COLD', outputs: [cold, change('BITCOIN')] })).toBeUndefined();
    expect(await code({ purpose: 'UPKEEP', outputs: [cold, change('BITCOIN')] })).toBe('not-allowed');
    const other = { script: script(SCRIPTS.BITCOIN[1]), units: 100_000n };
    expect(await code({ purpose: 'TO_COLD', outputs: [other, change('BITCOIN')] })).toBe('not-allowed');
  });
});

describe('the signer refuses on UTXO networks', () => {
  const [address] = PAYEES.BITCOIN;
  const payments = [{ address, units: 100_000n }];
  const paid = { script: script(SCRIPTS.BITCOIN[0]), units: 100_000n };
  const change = { script: ownScript('BITCOIN', '1/0'), units: 9_000n };

  it('other amounts, addresses and numbers of payments', async () => {
    expect(await code({ payments, outputs: [{ ...paid, units: 100_001n }, change] })).toBe('other-payment');
    expect(await code({ payments, outputs: [{ ...paid, script: script(SCRIPTS.BITCOIN[1]) }, change] })).toBe(
      'other-payment',
    );
    expect(await code({ payments, outputs: [change] })).toBe('other-payment');
    expect(await code({ payments: [...payments, { address, units: 1_000n }], outputs: [paid, change] })).toBe(
      'other-payment',
    );
    const twice = [
      { ...paid, units: 50_000n },
      { ...paid, units: 50_000n },
    ];
    expect(await code({ payments: [{ address, units: 50_000n }], outputs: twice })).toBe('other-payment');
  });

  it('change to a key that is not its own', async () => {
    const foreign = p2wpkh(HDKey.fromMasterSeed(Buffer.alloc(32, 9)).publicKey!).script;
    expect(await code({ payments, outputs: [paid, { ...change, script: foreign }] })).toBe('other-payment');
    // The change of the assignment is another address of the same wallet.
    const elsewhere = ownScript('BITCOIN', '1/7');
    expect(await code({ payments, outputs: [paid, { ...change, script: elsewhere }] })).toBe('other-payment');
    expect(await code({ payments, outputs: [paid, change], details: { changePath: "0'/0" } })).toBe(
      'other-lane',
    );
  });

  it('other coins than those of the assignment, also fewer', async () => {
    const stranger = { txHash: hash(3), output: 0, units: 60_000n, path: '0/3' };
    expect(await code({ payments, outputs: [paid, change], spends: ([one]) => [one!, stranger] })).toBe(
      'other-slot',
    );
    const less = [{ ...paid, units: 50_000n }];
    expect(
      await code({ payments: [{ address, units: 50_000n }], outputs: less, spends: ([one]) => [one!] }),
    ).toBe('other-slot');
  });

  it('a fee above its bound, and outputs that are worth more than the coins', async () => {
    const spend = (units: bigint): Order => ({
      payments: [{ address, units }],
      outputs: [{ ...paid, units }],
    });
    expect(await code(spend(110_001n))).toBe('unreadable');
    expect(await code(spend(110_000n))).toBeUndefined();
    const strictDirectory = makeDirectory();
    const policy = withNetwork('BITCOIN', { feeUnitsMax: 999n });
    const strict = await openTestSigner(test.database, { directory: strictDirectory, policy });
    const { id, bytes } = await prepare({ payments, outputs: [paid, change] });
    expect(await strict.codeFor('BITCOIN', id, bytes)).toBe('fee-too-high');
    await strict.close();
    removeDirectory(strictDirectory);
  });

  it('bytes that are no PSBT, or one with signatures already', async () => {
    const { id, bytes } = await prepare({ payments, outputs: [paid, change] });
    for (const one of ['00', bytes.slice(10), bytes.slice(0, 60), '70736274ff00'])
      expect(await tested.codeFor('BITCOIN' satisfies CryptoNetwork, id, one)).toBe('unreadable');
  });
});
