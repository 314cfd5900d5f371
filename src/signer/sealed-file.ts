import {
  createCipheriv,
  createDecipheriv,
  createHash,
  pbkdf2Sync,
  randomBytes,
  scryptSync,
} from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { LIMITS } from '../limits.ts';
import { SignerError } from './failure.ts';
import { type Keys, keysOfSeed } from './keys.ts';

/**
 * The entropy of a BIP39 mnemonic, encrypted with a passphrase: scrypt, then AES-256-GCM. What is not secret in the file is
 * authenticated as well.
 */

type Header = {
  readonly format: 'ferry-keys-1';
  readonly scrypt: { readonly cost: number; readonly block_size: number; readonly salt: string };
};
type Sealed = Header & { readonly iv: string; readonly tag: string; readonly sealed: string };

const FORMAT = 'ferry-keys-1';
const COST = 2 ** 17;
const BLOCK_SIZE = 8;
/** 24 words. */
const ENTROPY_BYTES = 32;
export const PASSPHRASE_LENGTH_MIN = 12;

export function newEntropy(): Buffer {
  return randomBytes(ENTROPY_BYTES);
}

/** Only to show it for the backup: a string cannot be wiped. */
export const mnemonicOf = (entropy: Buffer): string => entropyToMnemonic(entropy, wordlist);

/** Throws a sentence that does not repeat the words. */
export function entropyOf(mnemonic: string): Buffer {
  try {
    return Buffer.from(mnemonicToEntropy(mnemonic.trim().toLowerCase().split(/\s+/).join(' '), wordlist));
  } catch {
    throw new SignerError(
      'The mnemonic must be 12, 15, 18, 21 or 24 English words of BIP39 with a correct checksum.',
    );
  }
}

/** The seed as BIP39 defines it, without making a string of the whole mnemonic. */
export function seedOf(entropy: Buffer): Buffer {
  const checksum = createHash('sha256').update(entropy).digest()[0]!;
  const bits = [...entropy, checksum].flatMap((byte) =>
    Array.from({ length: 8 }, (_, bit) => (byte >> (7 - bit)) & 1),
  );
  const words = Array.from({ length: (entropy.length * 3) / 4 }, (_, index) => {
    const number = bits.slice(index * 11, index * 11 + 11).reduce((sum, bit) => sum * 2 + bit, 0);
    return Buffer.from(index === 0 ? wordlist[number]! : ` ${wordlist[number]!}`);
  });
  const sentence = Buffer.concat(words);
  try {
    return pbkdf2Sync(sentence, 'mnemonic', 2_048, 64, 'sha512');
  } finally {
    for (const bytes of [...words, sentence]) bytes.fill(0);
    bits.fill(0);
  }
}

function passphraseKey(passphrase: Buffer, { cost, block_size: blockSize, salt }: Header['scrypt']): Buffer {
  return scryptSync(passphrase, Buffer.from(salt, 'base64'), 32, {
    N: cost,
    r: blockSize,
    p: 1,
    maxmem: LIMITS.signerScryptMemoryBytesMax,
  });
}

const authenticated = ({ format, scrypt }: Header): Buffer => Buffer.from(JSON.stringify({ format, scrypt }));

/** The text of the file. */
export function seal(entropy: Buffer, passphrase: Buffer): string {
  if (passphrase.length < PASSPHRASE_LENGTH_MIN)
    throw new SignerError(`The passphrase must have at least ${PASSPHRASE_LENGTH_MIN} characters.`);
  const scrypt = { cost: COST, block_size: BLOCK_SIZE, salt: randomBytes(32).toString('base64') };
  const header: Header = { format: FORMAT, scrypt };
  const key = passphraseKey(passphrase, scrypt);
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(authenticated(header));
  const body = Buffer.concat([cipher.update(entropy), cipher.final()]);
  key.fill(0);
  const [ivText, tag, sealed] = [iv, cipher.getAuthTag(), body].map((bytes) => bytes.toString('base64'));
  return `${JSON.stringify({ ...header, iv: ivText, tag, sealed }, null, 2)}\n`;
}

function parseSealed(text: string, path: string): Sealed {
  try {
    const file = JSON.parse(text) as Sealed;
    const { cost, block_size: blockSize } = file.scrypt;
    const isSane = Number.isInteger(cost) && cost <= COST && blockSize === BLOCK_SIZE;
    if (file.format === FORMAT && isSane) return file;
  } catch {
    // Reported below: the text may not be quoted.
  }
  throw new SignerError(`${path} is not a key file of ferry signer init.`);
}

function unseal(file: Sealed, passphrase: Buffer, path: string): Buffer {
  const key = passphraseKey(passphrase, file.scrypt);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(file.iv, 'base64'))
      .setAAD(authenticated(file))
      .setAuthTag(Buffer.from(file.tag, 'base64'));
    return Buffer.concat([decipher.update(Buffer.from(file.sealed, 'base64')), decipher.final()]);
  } catch {
    throw new SignerError(`The passphrase does not open ${path}, or the file was changed.`);
  } finally {
    key.fill(0);
  }
}

/** Written once: an existing file is never replaced, because it may be the only copy of keys that own money. */
export function writeSealed(path: string, text: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, text);
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new SignerError(`${path} exists already: a key file is never replaced. Move it away first.`);
    throw new SignerError(`${path} cannot be written (${code}).`);
  }
}

/** Wipes the passphrase. */
export function openSealed(path: string, passphrase: Buffer): Keys {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SignerError(
      `keys.path names ${path}, which cannot be read (${code}): create it with "ferry signer init".`,
    );
  }
  if ((statSync(path).mode & 0o077) !== 0)
    throw new SignerError(`${path} can be read by other users: run "chmod 600 ${path}".`);
  const entropy = unseal(parseSealed(text, path), passphrase, path);
  passphrase.fill(0);
  const seed = seedOf(entropy);
  entropy.fill(0);
  return keysOfSeed(seed);
}
