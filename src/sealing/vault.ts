import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { BlockCipher, Vault } from '../kernel/vault.ts';

export type { Vault } from '../kernel/vault.ts';

export class UnreadableSecret extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UnreadableSecret';
  }
}

export type DataKey = { readonly id: number; readonly key: Buffer };

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** 96 bits in base64url. */
const SHORT_DIGEST_LENGTH = 16;
/** `sealed.<id of the data key>.<iv, tag and ciphertext in base64url>` */
const SEALED = /^sealed\.([1-9][0-9]{0,4})\.([A-Za-z0-9_-]{38,})$/;

export function newDataKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** True for every text that `seal` returns, and for no JSON or text that a user could have stored before. */
export function isSealed(text: string): boolean {
  return SEALED.test(text);
}

/** A key as an object of the runtime: given as bytes, each call would import it again, which takes five times as long. */
export function encrypt(key: KeyObject, text: Buffer, place: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

export function decrypt(key: KeyObject, bytes: Buffer, place: string): Buffer {
  if (bytes.length < IV_BYTES + TAG_BYTES) throw new UnreadableSecret('the sealed value is cut off');
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const body = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([body, decipher.final()]);
  } catch (error) {
    throw new UnreadableSecret('the sealed value belongs to another key or to another place', error);
  }
}

function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `ferry ${purpose}`, KEY_BYTES));
}

/** One block of AES, without chaining: equal blocks are meant to be equal. */
function createBlockCipher(key: KeyObject): BlockCipher {
  return {
    bytes: 16,
    encrypt(block) {
      const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
      return Buffer.concat([cipher.update(block), cipher.final()]);
    },
    decrypt(block) {
      const decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
      return Buffer.concat([decipher.update(block), decipher.final()]);
    },
  };
}

/** The last key seals; all of them open. Digests use the first one, so that they never change. */
export function createVault(keys: readonly DataKey[]): Vault {
  const newest = keys.at(-1);
  const oldest = keys[0];
  if (newest === undefined || oldest === undefined) throw new Error('a vault needs at least one data key');
  const byId = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  const sealing = byId.get(newest.id)!;
  const shortDigester = (algorithm: string, purpose: string): ((text: string) => string) => {
    const prefix = derive(oldest.key, `short digest ${purpose}`).toString('base64url');
    return (text) => hash(algorithm, prefix + text, 'base64url').slice(0, SHORT_DIGEST_LENGTH);
  };
  return {
    seal(text, place) {
      const bytes = encrypt(sealing, Buffer.from(text, 'utf8'), place);
      return `sealed.${newest.id}.${bytes.toString('base64url')}`;
    },
    open(sealed, place) {
      const parts = SEALED.exec(sealed);
      if (parts === null) throw new UnreadableSecret('the value is not in the form of a sealed one');
      const key = byId.get(Number(parts[1]));
      if (key === undefined) throw new UnreadableSecret(`there is no data key ${parts[1]}`);
      return decrypt(key, Buffer.from(parts[2]!, 'base64url'), place).toString('utf8');
    },
    digester(purpose) {
      const key = createSecretKey(derive(oldest.key, `digest ${purpose}`));
      return (text) => createHmac('sha256', key).update(text).digest('base64url');
    },
    blocks: (purpose) => createBlockCipher(createSecretKey(derive(oldest.key, `blocks ${purpose}`))),
    shortDigester: (purpose) => shortDigester('blake2b512', `BLAKE2b ${purpose}`),
    olderShortDigester: (purpose) => shortDigester('sha256', purpose),
  };
}
