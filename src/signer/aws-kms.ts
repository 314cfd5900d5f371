import { createPublicKey } from 'node:crypto';
import { type Holder, keysOfHolder } from './held-keys.ts';
import type { Keys } from './keys.ts';

/** Keys of AWS KMS (ECC_SECG_P256K1, SIGN_VERIFY). Credentials are found as every AWS program finds them. */

type Settings = {
  readonly region: string;
  readonly endpoint: string | undefined;
  readonly keys: ReadonlyMap<string, string>;
  readonly logKey: Buffer;
};

/** An integer of DER as 32 bytes. */
function integerAt(der: Buffer, at: number): { readonly bytes: Buffer; readonly next: number } {
  const length = der[at + 1]!;
  if (der[at] !== 2) throw new Error('the signature is not in DER');
  const bytes = der.subarray(at + 2, at + 2 + length);
  const start = Math.max(0, bytes.length - 32);
  return {
    bytes: Buffer.concat([Buffer.alloc(Math.max(0, 32 - bytes.length)), bytes.subarray(start)]),
    next: at + 2 + length,
  };
}

/** r and s of a signature in DER. */
export function compactOf(der: Buffer): Buffer {
  const r = integerAt(der, 2);
  return Buffer.concat([r.bytes, integerAt(der, r.next).bytes]);
}

/** From the form of a certificate: x and y of a JSON Web Key. */
function compressedOf(spki: Uint8Array): Uint8Array {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }).export({
    format: 'jwk',
  });
  if (key.crv !== 'secp256k1') throw new Error(`the key is one of ${key.crv}, not of secp256k1`);
  const [x, y] = [Buffer.from(key.x!, 'base64url'), Buffer.from(key.y!, 'base64url')];
  return Buffer.concat([Buffer.of(y.at(-1)! % 2 === 0 ? 2 : 3), x]);
}

export async function openAwsKms({ region, endpoint, keys, logKey }: Settings): Promise<Keys> {
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({ region, ...(endpoint !== undefined && { endpoint }) });
  const holder: Holder = {
    kind: 'AWS KMS',
    async publicKey(id) {
      const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId: id }));
      return compressedOf(PublicKey!);
    },
    async sign(id, digest) {
      const { Signature } = await client.send(
        new SignCommand({
          KeyId: id,
          Message: digest,
          MessageType: 'DIGEST',
          SigningAlgorithm: 'ECDSA_SHA_256',
        }),
      );
      return compactOf(Buffer.from(Signature!));
    },
    async close() {
      client.destroy();
    },
  };
  return keysOfHolder(holder, keys, logKey);
}
