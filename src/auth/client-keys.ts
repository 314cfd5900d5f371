import { calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { LIMITS } from '../limits.ts';

/** Public keys of clients, with which they sign assertions (private_key_jwt). */
export const ASSERTION_ALGORITHMS = ['EdDSA', 'Ed25519', 'ES256', 'RS256', 'PS256'];

const SHAPES: readonly { kty: string; crv?: string; members: readonly string[]; algorithms: string[] }[] = [
  { kty: 'OKP', crv: 'Ed25519', members: ['crv', 'x'], algorithms: ['EdDSA', 'Ed25519'] },
  { kty: 'EC', crv: 'P-256', members: ['crv', 'x', 'y'], algorithms: ['ES256'] },
  { kty: 'RSA', members: ['n', 'e'], algorithms: ['RS256', 'PS256'] },
];

const shapeOf = ({ kty, crv }: JWK) =>
  SHAPES.find((shape) => shape.kty === kty && shape.crv === (crv ?? undefined));

/** The algorithms that a key may sign with; none if the key is of another kind. */
export function algorithmsOf(jwk: JWK): readonly string[] {
  const algorithms = shapeOf(jwk)?.algorithms ?? [];
  return jwk.alg === undefined ? algorithms : algorithms.filter((algorithm) => algorithm === jwk.alg);
}

/** A key that cannot be registered, in one sentence. */
export class KeyError extends Error {}

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const KEY_ID = /^[\x21-\x7e]+$/;

/** From 2048 bits, because shorter ones can be factored, to 4096, because a longer one makes every login slower. */
function checkModulus({ n = '' }: JWK): void {
  const bits = Buffer.from(n, 'base64url').length * 8;
  if (bits < 2048 || bits > 4096) throw new KeyError(`An RSA key must have 2048 to 4096 bits, not ${bits}.`);
}

/** Only its public members, and always with a key id: its own, or its thumbprint (RFC 7638). */
async function readKey(content: unknown): Promise<JWK & { kid: string }> {
  if (content === null || typeof content !== 'object' || Array.isArray(content))
    throw new KeyError('A key must be a JSON Web Key (RFC 7517), or a set of them in {"keys": […]}.');
  const jwk = content as JWK & Record<string, unknown>;
  if (PRIVATE_MEMBERS.some((name) => jwk[name] !== undefined))
    throw new KeyError('The key is a private one. Register the public key, and keep the private one secret.');
  const [algorithm] = algorithmsOf(jwk);
  const shape = shapeOf(jwk);
  if (shape === undefined || algorithm === undefined || (jwk.use ?? 'sig') !== 'sig')
    throw new KeyError(`A key must be one for ${ASSERTION_ALGORITHMS.join(', ')}: Ed25519, P-256 or RSA.`);
  if (shape.kty === 'RSA') checkModulus(jwk);
  const kid = jwk.kid ?? (await calculateJwkThumbprint(jwk).catch(() => ''));
  if (typeof kid !== 'string' || kid.length > LIMITS.clientKeyIdLengthMax || !KEY_ID.test(kid))
    throw new KeyError(
      `The kid of a key must have 1 to ${LIMITS.clientKeyIdLengthMax} visible ASCII characters.`,
    );
  const members = ['kty', ...shape.members, ...(jwk.alg === undefined ? [] : ['alg'])];
  const publicKey = { ...Object.fromEntries(members.map((name) => [name, jwk[name]])), kid } as JWK & {
    kid: string;
  };
  await importJWK(publicKey, algorithm).catch(() => {
    throw new KeyError(`The key ${kid} is not a valid public key.`);
  });
  return publicKey;
}

/** A JWK, or a JWK Set. */
export async function readKeys(text: string): Promise<(JWK & { kid: string })[]> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new KeyError('The key must be a JSON Web Key (RFC 7517), and is not JSON.');
  }
  const { keys } = (content ?? {}) as { keys?: unknown };
  const list = Array.isArray(keys) ? keys : [content];
  if (list.length === 0) throw new KeyError('The set of keys is empty.');
  return Promise.all(list.map(readKey));
}
