import { base58 } from '@scure/base';
import { isBase58Checked } from '../../networks/addresses.ts';
import type { Chain } from './chain.ts';

/** The text of an extended public key. Checked at start without the library that derives keys. */

export type Origin = { readonly fingerprint: number; readonly path: readonly number[] };

export type AccountText = {
  readonly key: string;
  readonly version: number;
  /** Absent: the account counts as its own master key. */
  readonly origin?: Origin;
};

const HARDENED = 0x8000_0000;
const EXTENDED_KEY_BYTES = 82;

/** Of the main chain and of test ones: BIP-32, and BIP-84's own for the same keys. */
const VERSIONS: Readonly<Record<string, number>> = {
  xpub: 0x0488b21e,
  tpub: 0x043587cf,
  zpub: 0x04b24746,
  vpub: 0x045f1cf6,
};

const FORM = /^(?:\[([0-9a-f]{8}(?:\/\d{1,9}['h]?)*)\])?([xtzv]pub[1-9A-HJ-NP-Za-km-z]{100,120})$/;

function readOrigin(text: string): Origin {
  const [fingerprint, ...steps] = text.split('/');
  const path = steps.map((step) => Number.parseInt(step, 10) + (/['h]$/.test(step) ? HARDENED : 0));
  return { fingerprint: Number.parseInt(fingerprint!, 16), path };
}

/**
 * An extended public key, optionally with its origin, as output descriptors write it: `[d34db33f/84h/0h/0h]xpub6…`. Throws an
 * error whose message is a clause that follows the name of the entry.
 */
export function readAccountText(chain: Chain, text: string): AccountText {
  const match = FORM.exec(text);
  if (match === null) throw new Error('is no extended public key (xpub, zpub, tpub or vpub)');
  const key = match[2]!;
  const bytes = base58.decode(key);
  if (bytes.length !== EXTENDED_KEY_BYTES || !isBase58Checked(bytes))
    throw new Error('is an extended public key with a typing error');
  if ((key.startsWith('x') || key.startsWith('z')) !== (chain.name === 'main'))
    throw new Error(`is a key of ${chain.name === 'main' ? 'a test chain' : 'the main chain'}`);
  const version = VERSIONS[key.slice(0, 4)]!;
  return { key, version, ...(match[1] !== undefined && { origin: readOrigin(match[1]) }) };
}
