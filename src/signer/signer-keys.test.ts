import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keysOfSeed, lowS } from './keys.ts';
import { entropyOf, mnemonicOf, newEntropy, openSealed, seal, seedOf, writeSealed } from './sealed-file.ts';

const WORDS = `${'abandon '.repeat(11)}about`;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('keys of a seed', () => {
  it('are those that BIP39 and BIP32 define', async () => {
    // The first vector of BIP39 without a passphrase.
    const seed = seedOf(entropyOf(WORDS));
    expect(hex(seed)).toBe(
      '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
    );
    const keys = keysOfSeed(seed);
    // BIP84, test vectors.
    expect(hex(await keys.publicKey({ curve: 'secp256k1', path: "m/84'/0'/0'/0/0" }))).toBe(
      '0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c',
    );
    expect(keys.xpub("m/84'/0'/0'", true)).toMatch(/^tpub/);
  });

  it('are those that SLIP-0010 defines for Ed25519', async () => {
    // Test vector 1.
    const keys = keysOfSeed(Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'));
    const at = async (path: string): Promise<string> => hex(await keys.publicKey({ curve: 'ed25519', path }));
    expect(await at("m/0'")).toBe('8c8a13df77a28f3445213a0f432fde644acaa215fc72dcdf300d5efaa85d350c');
    expect(await at("m/0'/1'/2'/2'/1000000000'")).toBe(
      '3c24da049451555d51a7014a37337aa4e12d41e485abccfa46b47dfb2af54b7a',
    );
  });

  it('sign the same bytes with the same signature, which has the smaller s', async () => {
    const keys = keysOfSeed(seedOf(newEntropy()));
    for (let count = 0; count < 20; count += 1) {
      const digest = Buffer.alloc(32, count);
      const key = { curve: 'secp256k1', path: `m/0/${count}` } as const;
      const signature = await keys.sign(key, digest);
      expect(hex(await keys.sign(key, digest))).toBe(hex(signature));
      expect(lowS(signature)).toBe(signature);
    }
  });

  it('are gone once they are closed', async () => {
    const seed = seedOf(newEntropy());
    await keysOfSeed(seed).close();
    expect(seed.every((byte) => byte === 0)).toBe(true);
  });
});

describe('a sealed key file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-keys-'));
  const path = join(directory, 'keys.json');
  const passphrase = (): Buffer => Buffer.from('correct horse battery staple');

  it('opens with its passphrase, and with no other one', () => {
    const entropy = newEntropy();
    expect(entropyOf(mnemonicOf(entropy))).toEqual(entropy);
    expect(() => seal(entropy, Buffer.from('short'))).toThrow('at least 12 characters');
    writeSealed(path, seal(entropy, passphrase()));
    expect(() => writeSealed(path, 'x')).toThrow('a key file is never replaced');
    const expected = keysOfSeed(seedOf(entropy)).xpub("m/84'/0'/0'");
    expect(openSealed(path, passphrase()).xpub("m/84'/0'/0'")).toBe(expected);
    expect(() => openSealed(path, Buffer.from('correct horse battery'))).toThrow(
      'The passphrase does not open',
    );
  });

  it('does not open after any change, not even of what is not secret', () => {
    const file = JSON.parse(readFileSync(path, 'utf8'));
    const changed = [
      { ...file, scrypt: { ...file.scrypt, salt: Buffer.alloc(32).toString('base64') } },
      { ...file, scrypt: { ...file.scrypt, cost: 2 ** 14 } },
      { ...file, sealed: Buffer.alloc(32).toString('base64') },
    ];
    for (const one of changed) {
      writeFileSync(path, JSON.stringify(one));
      expect(() => openSealed(path, passphrase())).toThrow('The passphrase does not open');
    }
    for (const text of ['', '{}', JSON.stringify({ ...file, scrypt: { ...file.scrypt, cost: 2 ** 30 } })]) {
      writeFileSync(path, text);
      expect(() => openSealed(path, passphrase())).toThrow('is not a key file of ferry signer init');
    }
    writeFileSync(path, JSON.stringify(file), { mode: 0o600 });
    rmSync(directory, { recursive: true });
    expect(() => openSealed(path, passphrase())).toThrow('create it with "ferry signer init"');
  });

  it('is not made from words with a typing error, and the words are not repeated', () => {
    expect(() => entropyOf(WORDS.replace('about', 'abandon'))).toThrow(
      /^The mnemonic must be 12, 15, 18, 21 or 24 English words of BIP39 with a correct checksum\.$/,
    );
  });
});
