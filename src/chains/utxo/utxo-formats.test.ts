import * as libauth from '@bitauth/libauth';
import { HDKey } from '@scure/bip32';
import { Address, OutScript, Transaction as Psbt } from '@scure/btc-signer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashWithSignatures, readPsbt } from '../../signer/psbt.ts';
import type { Coin } from '../driver.ts';
import { accountOf, readAccount } from './account.ts';
import { readBlock } from './block.ts';
import { createReader, sha256Twice, shownHash } from './bytes.ts';
import { type Chain, type ChainName, chainOf, UTXO_NETWORKS, type UtxoNetwork } from './chain.ts';
import { sizeOf } from './fees.ts';
import { completePsbt, digests, inspect, writePsbt } from './psbt.ts';
import { addressOf, keyHashScript, scriptOf, witnessScript } from './script.ts';
import { readTransaction, transactionFrom, writeTransaction } from './transaction.ts';

const chainNames: readonly ChainName[] = ['main', 'test', 'regtest'];
const everyChain = UTXO_NETWORKS.flatMap((network) => chainNames.map((name) => chainOf(network, name)));

const anyHash = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).filter((bytes) => bytes.some((byte) => byte !== 0));
const p2sh = (hash: Uint8Array) => Uint8Array.of(0xa9, 20, ...hash, 0x87);
const p2sh32 = (hash: Uint8Array) => Uint8Array.of(0xaa, 32, ...hash, 0x87);
const keyOfPoint = HDKey.fromMasterSeed(Buffer.alloc(32, 9)).publicKey!.subarray(1);

const anySegwitScript = fc.oneof(
  anyHash(20).map(keyHashScript),
  anyHash(20).map(p2sh),
  anyHash(20).map((hash) => witnessScript(0, hash)),
  anyHash(32).map((hash) => witnessScript(0, hash)),
  fc.constant(witnessScript(1, keyOfPoint)),
);
const anyCashScript = fc.oneof(
  anyHash(20).map(keyHashScript),
  anyHash(20).map(p2sh),
  anyHash(32).map(p2sh32),
);

describe('addresses', () => {
  it('stand for the scripts that they were made from, on all chains', () => {
    for (const chain of everyChain)
      fc.assert(
        fc.property(chain.hasSegwit ? anySegwitScript : anyCashScript, (script) => {
          expect(scriptOf(chain, addressOf(chain, script)!)).toEqual(script);
        }),
        { numRuns: 30 },
      );
  });

  it('are those of @scure/btc-signer and @bitauth/libauth', () => {
    fc.assert(
      fc.property(anySegwitScript, anyCashScript, (script, cashScript) => {
        for (const chain of everyChain.filter(({ hasSegwit }) => hasSegwit)) {
          const { prefix, base58 } = chain.form;
          const network = {
            bech32: prefix,
            pubKeyHash: base58!.keyHash,
            scriptHash: base58!.scriptHash,
            wif: 0x80,
          };
          expect(Address(network).encode(OutScript.decode(script))).toBe(addressOf(chain, script));
        }
        const cash = chainOf('BITCOIN_CASH', 'regtest');
        const other = libauth.lockingBytecodeToCashAddress({ bytecode: cashScript, prefix: 'bchreg' });
        expect(other).toMatchObject({ address: addressOf(cash, cashScript) });
      }),
      { numRuns: 100 },
    );
  });

  it('of the main chain are accepted on a test chain, but not the other way round', () => {
    const script = witnessScript(0, Buffer.alloc(20, 7));
    const [main, regtest] = [chainOf('LITECOIN', 'main'), chainOf('LITECOIN', 'regtest')];
    expect(scriptOf(regtest, addressOf(main, script)!)).toEqual(script);
    expect(scriptOf(main, addressOf(regtest, script)!)).toBeUndefined();
    expect(scriptOf(main, addressOf(chainOf('BITCOIN', 'main'), script)!)).toBeUndefined();
  });
});

const master = HDKey.fromMasterSeed(Buffer.from('a seed that only tests know, forever'));
const accountKey = master.derive("m/84'/0'/0'");
const origin = { fingerprint: master.fingerprint, path: [84, 0, 0].map((step) => step + 0x8000_0000) };

describe('the account', () => {
  it('has the addresses of BIP-84', () => {
    // The test vector of the BIP: its account 0.
    const zpub =
      'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
    const account = readAccount(chainOf('BITCOIN', 'main'), zpub);
    expect(account.keyAt('0/0').address).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
    expect(account.keyAt('0/1').address).toBe('bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g');
    expect(account.change.address).toBe('bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el');
  });

  it('refuses private keys, keys of another chain, typing errors and paths outside of it', () => {
    const main = chainOf('BITCOIN', 'main');
    expect(() => readAccount(main, accountKey.privateExtendedKey)).toThrow('is no extended public key');
    const xpub = accountKey.publicExtendedKey;
    expect(() => readAccount(chainOf('BITCOIN', 'regtest'), xpub)).toThrow('is a key of the main chain');
    expect(() => readAccount(main, `${xpub.slice(0, -1)}${xpub.endsWith('a') ? 'b' : 'a'}`)).toThrow(
      'typing error',
    );
    expect(() => readAccount(main, xpub).keyAt('2/0')).toThrow('is no path below the account');
  });

  it('knows its place below the master key', () => {
    const account = readAccount(
      chainOf('BITCOIN', 'main'),
      `[deadbeef/84h/0'/0h]${accountKey.publicExtendedKey}`,
    );
    expect(account.keyAt('0/5').origin).toEqual({ fingerprint: 0xdeadbeef, path: [...origin.path, 0, 5] });
  });
});

function spendingOf(
  chain: Chain,
  values: readonly bigint[],
  outputs: readonly { script: Uint8Array; units: bigint }[],
) {
  const account = accountOf(chain, accountKey, origin);
  const coins = values.map((units, index): Coin => {
    const path = `0/${index}`;
    const txHash = Buffer.alloc(32, index + 1).toString('hex');
    return { txHash, output: index, units, address: account.keyAt(path).address, path, height: 1 };
  });
  return { account, coins, unsigned: writePsbt(chain, account, { coins, outputs }) };
}

const sign = (chain: Chain, unsigned: string): string[] =>
  digests(chain, unsigned).map(({ path, digest }) =>
    Buffer.from(accountKey.derive(`m/${path}`).sign(digest)).toString('hex'),
  );

const anySpending = (network: UtxoNetwork) => {
  const chain = chainOf(network, 'main');
  const script = chain.hasSegwit ? anySegwitScript : anyCashScript;
  return fc.tuple(
    fc.array(fc.bigInt({ min: 1_000_000n, max: 2n ** 50n }), { minLength: 1, maxLength: 5 }),
    fc.array(fc.record({ script, units: fc.bigInt({ min: 1_000n, max: 100_000n }) }), {
      minLength: 1,
      maxLength: 8,
    }),
  );
};

describe('a PSBT', () => {
  it.each(UTXO_NETWORKS)('shows a signer of %s every coin and output, and the fee', (network) => {
    const chain = chainOf(network, 'main');
    fc.assert(
      fc.property(anySpending(network), ([values, outputs]) => {
        const { coins, unsigned } = spendingOf(chain, values, outputs);
        const seen = inspect(chain, unsigned);
        expect(
          seen.inputs.map(({ txHash, output, units, address, path }) => ({
            txHash,
            output,
            units,
            address,
            path,
            height: 1,
          })),
        ).toEqual(coins);
        expect(seen.outputs).toEqual(
          outputs.map(({ script, units }) => ({ address: addressOf(chain, script), units })),
        );
        expect(seen.feeUnits).toBe(
          values.reduce((sum, one) => sum + one) - outputs.reduce((sum, { units }) => sum + units, 0n),
        );
      }),
      { numRuns: 8 },
    );
  });

  it.each(['BITCOIN', 'LITECOIN'] as const)(
    'becomes the transaction that @scure/btc-signer makes of it on %s',
    (network) => {
      const chain = chainOf(network, 'main');
      fc.assert(
        fc.property(anySpending(network), ([values, outputs]) => {
          const { unsigned } = spendingOf(chain, values, outputs);
          const own = completePsbt(chain, unsigned, sign(chain, unsigned));
          const other = Psbt.fromPSBT(Buffer.from(unsigned, 'hex'), { allowUnknownOutputs: true });
          for (const index of values.keys())
            other.signIdx(accountKey.derive(`m/0/${index}`).privateKey!, index);
          other.finalize();
          expect(own.hash).toBe(other.id);
          expect(transactionFrom(own.bytes)).toMatchObject({ hash: own.hash });
          const size = sizeOf(
            chain,
            values.length,
            outputs.map(({ script }) => script),
          );
          // A signature can be one byte shorter, rarely more.
          expect(Number(size) - other.vsize).toBeGreaterThanOrEqual(0);
          expect(Number(size) - other.vsize).toBeLessThanOrEqual(values.length);
        }),
        { numRuns: 8 },
      );
    },
  );

  it('becomes a transaction that the virtual machine of Bitcoin Cash accepts, and refuses with another amount', () => {
    const chain = chainOf('BITCOIN_CASH', 'main');
    const machine = libauth.createVirtualMachineBCH(true);
    fc.assert(
      fc.property(anySpending('BITCOIN_CASH'), ([values, outputs]) => {
        const { unsigned, coins, account } = spendingOf(chain, values, outputs);
        const signatures = sign(chain, unsigned);
        const { bytes, hash } = completePsbt(chain, unsigned, signatures);
        const proofs = signatures.map((one, index) => ({
          raw: Buffer.from(one, 'hex'),
          publicKey: account.keyAt(coins[index]!.path).publicKey,
        }));
        // The signer logs the same hash, by which a payment is found after a restore.
        const read = readPsbt(Buffer.from(unsigned, 'hex'));
        expect(hashWithSignatures(read, proofs, chain.sighash)).toBe(hash);
        const transaction = libauth.decodeTransactionBCH(Buffer.from(bytes, 'hex')) as libauth.TransactionBCH;
        const verify = (more: bigint): true | string => {
          const sourceOutputs = coins.map(({ units, path }) => ({
            valueSatoshis: units + more,
            lockingBytecode: account.keyAt(path).script,
          }));
          return machine.verify({ sourceOutputs, transaction });
        };
        expect(libauth.hashTransaction(Buffer.from(bytes, 'hex'))).toBe(hash);
        expect(verify(0n)).toBe(true);
        expect(verify(1n)).not.toBe(true);
      }),
      { numRuns: 4 },
    );
  });

  it('is not completed with a wrong, missing or foreign signature, and takes the larger s of a key service', () => {
    const chain = chainOf('BITCOIN', 'main');
    const outputs = [{ script: witnessScript(0, Buffer.alloc(20, 3)), units: 5_000n }];
    const { unsigned } = spendingOf(chain, [100_000n, 200_000n], outputs);
    const [first, second] = sign(chain, unsigned) as [string, string];
    expect(() => completePsbt(chain, unsigned, [first])).toThrow('there are 1 signatures for 2 inputs');
    expect(() => completePsbt(chain, unsigned, [second, first])).toThrow(
      'the signature of input 0 is not valid',
    );
    const order = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;
    const larger = (order - BigInt(`0x${first.slice(64)}`)).toString(16).padStart(64, '0');
    const completed = completePsbt(chain, unsigned, [first.slice(0, 64) + larger, second]);
    expect(completed).toEqual(completePsbt(chain, unsigned, [first, second]));
  });
});

describe('raw transactions and blocks', () => {
  const coinbase = writeTransaction({
    version: 1,
    inputs: [
      { txHash: '00'.repeat(32), output: 0xffff_ffff, script: Uint8Array.of(1, 7), sequence: 0, witness: [] },
    ],
    outputs: [{ units: 50n, script: keyHashScript(Buffer.alloc(20, 1)) }],
    lockTime: 0,
  });
  const blockOf = (
    transactions: readonly Buffer[],
    root: Buffer,
    trailer = Buffer.alloc(0),
  ): { hex: string; hash: string } => {
    const header = Buffer.concat([Buffer.alloc(36, 1), root, Buffer.alloc(12, 2)]);
    const bytes = Buffer.concat([header, Buffer.of(transactions.length), ...transactions, trailer]);
    return { hex: bytes.toString('hex'), hash: shownHash(sha256Twice(header)) };
  };

  it('are read only if everything in them is what their hash covers', async () => {
    const { hex, hash } = blockOf([coinbase], sha256Twice(coinbase));
    expect((await readBlock(hex, hash)).transactions[0]!.outputs[0]!.units).toBe(50n);
    await expect(readBlock(hex, 'ff'.repeat(32))).rejects.toThrow('another block');
    const forged = blockOf([coinbase], Buffer.alloc(32, 5));
    await expect(readBlock(forged.hex, forged.hash)).rejects.toThrow('does not match its header');
    const doubled = blockOf(
      [coinbase, coinbase],
      sha256Twice(Buffer.concat([sha256Twice(coinbase), sha256Twice(coinbase)])),
    );
    await expect(readBlock(doubled.hex, doubled.hash)).rejects.toThrow('does not match its header');
  });

  it('include the transaction of Litecoin that leads to the extension block, and what follows it', async () => {
    const plain = coinbase.subarray(0, -4);
    const hogEx = Buffer.concat([
      plain.subarray(0, 4),
      Buffer.of(0, 8),
      plain.subarray(4),
      Buffer.of(0),
      coinbase.subarray(-4),
    ]);
    expect(readTransaction(createReader(hogEx)).hash).toBe(shownHash(sha256Twice(coinbase)));
    const { hex, hash } = blockOf([hogEx], sha256Twice(coinbase), Buffer.from('01deadbeef', 'hex'));
    expect((await readBlock(hex, hash)).transactions).toHaveLength(1);
  });
});
