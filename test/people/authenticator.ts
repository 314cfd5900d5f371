import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/**
 * A passkey in software, written from the WebAuthn specification and not from the library that the service uses. By default it
 * is honest; each option makes it, or the browser around it, misbehave in one way.
 */
export type Authenticator = {
  readonly credentialId: string;
  create(options: any, client: Client, how?: Misbehaviour): any;
  get(options: any, client: Client, how?: Misbehaviour): any;
};

/** The page that asks for the passkey, as the browser sees it. */
export type Client = { readonly origin: string };

export type Misbehaviour = {
  /** Signs for another domain. */
  readonly rpId?: string;
  /** Has not verified the person. */
  readonly unverified?: boolean;
  readonly challenge?: string;
  readonly userHandle?: string;
  readonly type?: string;
  /** Does not count its signatures. */
  readonly counter?: number;
  readonly spoilsSignature?: boolean;
};

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** CBOR, as far as it is needed here. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}
const integer = (value: number): Buffer => (value < 0 ? head(1, -1 - value) : head(0, value));
const bytes = (value: Buffer): Buffer => Buffer.concat([head(2, value.length), value]);
const text = (value: string): Buffer => Buffer.concat([head(3, value.length), Buffer.from(value)]);
const map = (pairs: readonly (readonly [Buffer, Buffer])[]): Buffer =>
  Buffer.concat([head(5, pairs.length), ...pairs.flat()]);

function coseKey(key: KeyObject): Buffer {
  const { kty, x, y } = key.export({ format: 'jwk' }) as { kty: string; x: string; y?: string };
  const part = (one: string): Buffer => bytes(Buffer.from(one, 'base64url'));
  const isEdwards = kty === 'OKP';
  return map([
    [integer(1), integer(isEdwards ? 1 : 2)],
    [integer(3), integer(isEdwards ? -8 : -7)],
    [integer(-1), integer(isEdwards ? 6 : 1)],
    [integer(-2), part(x)],
    ...(y === undefined ? [] : ([[integer(-3), part(y)]] as const)),
  ]);
}

const PRESENT = 0x01;
const VERIFIED = 0x04;
const WITH_CREDENTIAL = 0x40;

export function createAuthenticator({
  curve = 'P-256',
  counts = true,
}: {
  curve?: 'P-256' | 'Ed25519';
  counts?: boolean;
} = {}): Authenticator {
  const { publicKey, privateKey } =
    curve === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const id = randomBytes(32);
  const credentialId = id.toString('base64url');
  let counter = 0;
  let userHandle = '';

  function clientData(type: string, challenge: string, { origin }: Client): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  function authenticatorData(rpId: string, how: Misbehaviour, credential?: Buffer): Buffer {
    const verified = how.unverified === true ? 0 : VERIFIED;
    const flags = PRESENT | verified | (credential === undefined ? 0 : WITH_CREDENTIAL);
    const count = Buffer.alloc(4);
    if (counts) counter += 1;
    count.writeUInt32BE(how.counter ?? (counts ? counter : 0));
    return Buffer.concat([
      sha256(how.rpId ?? rpId),
      Buffer.from([flags]),
      count,
      credential ?? Buffer.alloc(0),
    ]);
  }

  const answer = (response: Record<string, Buffer | string>): any => ({
    id: credentialId,
    rawId: credentialId,
    type: 'public-key',
    clientExtensionResults: {},
    response: Object.fromEntries(
      Object.entries(response).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : value.toString('base64url'),
      ]),
    ),
  });

  return {
    credentialId,
    create(options, client, how = {}) {
      userHandle = options.user.id;
      const length = Buffer.from([id.length >> 8, id.length & 0xff]);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey)]);
      const authData = authenticatorData(options.rp.id, how, credential);
      return answer({
        clientDataJSON: clientData(how.type ?? 'webauthn.create', how.challenge ?? options.challenge, client),
        attestationObject: map([
          [text('fmt'), text('none')],
          [text('attStmt'), map([])],
          [text('authData'), bytes(authData)],
        ]),
      });
    },
    get(options, client, how = {}) {
      const clientDataJSON = clientData(
        how.type ?? 'webauthn.get',
        how.challenge ?? options.challenge,
        client,
      );
      const data = authenticatorData(options.rpId, how);
      const signed = Buffer.concat([data, sha256(clientDataJSON)]);
      const signature = sign(curve === 'P-256' ? 'sha256' : null, signed, privateKey);
      if (how.spoilsSignature === true) signature[signature.length - 1]! ^= 1;
      return answer({
        clientDataJSON,
        authenticatorData: data,
        signature,
        userHandle: how.userHandle ?? userHandle,
      });
    },
  };
}
