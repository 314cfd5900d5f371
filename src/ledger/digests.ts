import { canonicalText } from '../kernel/canonical.ts';
import type { Vault } from '../kernel/vault.ts';
import type { IdempotencyKey } from './command.ts';
import { keyText } from './keys.ts';

/**
 * What is kept of a request under its ref_id: a keyed digest of each field, `amount=…;asset=…`, never a value. That is enough
 * to recognise a replay, and to name the fields in which another request differs. The digest includes the key, so that equal
 * values of two requests have different digests. A number before the first field says how they were made: those of earlier
 * releases have none.
 */
export type RequestDigests = {
  of(key: IdempotencyKey): string;
  /** The names of the fields in which the request differs from the stored one. */
  differing(stored: string, key: IdempotencyKey): string[];
  /** The digests of a request that was stored as JSON, as earlier releases did; other texts are digests already. */
  ofStored(stored: string, key: IdempotencyKey): string;
};

type Fields = IdempotencyKey['request'];

function namesOf(request: Fields): string[] {
  const names = Object.keys(request);
  for (let index = 1; index < names.length; index += 1) {
    // A caller whose fields are sorted saves the sorting.
    if (names[index]! < names[index - 1]!) return names.sort();
  }
  return names;
}

function digestsIn(text: string): Map<string, string> {
  const fields = text
    .slice(text.startsWith(FORM) ? FORM.length : 0)
    .split(';')
    .slice(0, -1);
  return new Map(fields.map((field) => field.split('=', 2) as [string, string]));
}

type Digest = (text: string) => string;

/** How digests are made now. */
const FORM = '2:';

function createRequestDigests(digest: Digest, olderDigest: Digest): RequestDigests {
  function digests(request: Fields, key: IdempotencyKey, make: Digest): string {
    const place = keyText(key);
    let text = '';
    for (const name of namesOf(request)) {
      const value = request[name];
      // The ref_id is the key itself.
      if (value === undefined || (name === 'ref_id' && value === key.refId)) continue;
      // The JSON of anything but a string does not begin with a quotation mark.
      const shown = typeof value === 'string' ? `"${value}` : canonicalText(value);
      text += `${name}=${make(`${place}\0${name}\0${shown}`)};`;
    }
    return text;
  }
  const of = (key: IdempotencyKey): string => {
    key.digests ??= FORM + digests(key.request, key, digest);
    return key.digests;
  };
  const ofStored = (stored: string, key: IdempotencyKey): string =>
    stored.startsWith('{') ? FORM + digests(JSON.parse(stored) as Fields, key, digest) : stored;
  return {
    of,
    ofStored,
    differing(stored, key) {
      const first = ofStored(stored, key);
      const second = first.startsWith(FORM) ? of(key) : digests(key.request, key, olderDigest);
      if (first === second) return [];
      const [one, other] = [digestsIn(first), digestsIn(second)];
      return [...new Set([...one.keys(), ...other.keys()])]
        .filter((name) => one.get(name) !== other.get(name))
        .sort();
    },
  };
}

const known = new WeakMap<Vault, RequestDigests>();

/** Remembered for each vault, because deriving the key costs more than a transfer may. */
export function requestDigests(vault: Vault): RequestDigests {
  let digests = known.get(vault);
  if (digests === undefined) {
    const purpose = 'idempotency_keys.request';
    digests = createRequestDigests(vault.shortDigester(purpose), vault.olderShortDigester(purpose));
    known.set(vault, digests);
  }
  return digests;
}
