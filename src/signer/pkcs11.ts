import { createRequire } from 'node:module';
import { SignerError } from './failure.ts';
import { compressed, type Holder, keysOfHolder } from './held-keys.ts';
import type { Keys } from './keys.ts';

/** Keys in a hardware security module, through its PKCS #11 library. */

/** What is used of the package pkcs11js. It is compiled on the machine, so Ferry does not install it by itself. */
type Pkcs11 = {
  load(path: string): void;
  close(): void;
  C_Initialize(): void;
  C_Finalize(): void;
  C_GetSlotList(withToken: boolean): Buffer[];
  C_GetTokenInfo(slot: Buffer): { readonly label: string };
  C_OpenSession(slot: Buffer, flags: number): Buffer;
  C_Login(session: Buffer, user: number, pin: string): void;
  C_FindObjectsInit(session: Buffer, template: readonly object[]): void;
  C_FindObjects(session: Buffer, count: number): Buffer[];
  C_FindObjectsFinal(session: Buffer): void;
  C_GetAttributeValue(session: Buffer, object: Buffer, template: readonly object[]): { value: Buffer }[];
  C_SignInit(session: Buffer, mechanism: object, key: Buffer): void;
  C_Sign(session: Buffer, data: Buffer, out: Buffer): Buffer;
};

const USER = 1;
const SERIAL_SESSION = 4;
const CLASS = 0x000;
const LABEL = 0x003;
const EC_POINT = 0x181;
const [PUBLIC_KEY, PRIVATE_KEY] = [2, 3];
const ECDSA = 0x1041;

function loadPackage(): { PKCS11: new () => Pkcs11 } {
  try {
    return createRequire(import.meta.url)('pkcs11js') as { PKCS11: new () => Pkcs11 };
  } catch (error) {
    throw new SignerError(
      `keys.kind pkcs11 needs the package pkcs11js 2.1.7, which cannot be loaded (${(error as NodeJS.ErrnoException).code ?? 'error'}): see docs/signer.md.`,
    );
  }
}

type Settings = {
  readonly module: string;
  readonly token: string;
  readonly pin: string;
  readonly keys: ReadonlyMap<string, string>;
  readonly logKey: Buffer;
};

function openSession(library: Pkcs11, { module, token, pin }: Settings): Buffer {
  try {
    library.load(module);
    library.C_Initialize();
  } catch (error) {
    throw new SignerError(
      `keys.module names ${module}, which cannot be loaded (${(error as Error).message}).`,
    );
  }
  const slot = library.C_GetSlotList(true).find((one) => library.C_GetTokenInfo(one).label.trim() === token);
  if (slot === undefined) throw new SignerError(`keys.token names ${token}, which ${module} does not have.`);
  const session = library.C_OpenSession(slot, SERIAL_SESSION);
  try {
    library.C_Login(session, USER, pin);
  } catch (error) {
    throw new SignerError(`The token ${token} refuses keys.pin (${(error as Error).message}).`);
  }
  return session;
}

function createHolder(library: Pkcs11, session: Buffer): Holder {
  function find(label: string, type: number): Buffer {
    library.C_FindObjectsInit(session, [
      { type: CLASS, value: type },
      { type: LABEL, value: label },
    ]);
    const found = library.C_FindObjects(session, 2);
    library.C_FindObjectsFinal(session);
    if (found.length !== 1)
      throw new SignerError(
        `The token has ${found.length} ${type === PRIVATE_KEY ? 'private' : 'public'} keys with the label ${label}, not 1.`,
      );
    return found[0]!;
  }
  return {
    kind: 'PKCS #11',
    async publicKey(label) {
      const [point] = library.C_GetAttributeValue(session, find(label, PUBLIC_KEY), [{ type: EC_POINT }]);
      // The point is wrapped as an octet string: 04, its length, the point.
      const { value } = point!;
      return compressed(value.length === 67 ? value.subarray(2) : value);
    },
    async sign(label, digest) {
      library.C_SignInit(session, { mechanism: ECDSA }, find(label, PRIVATE_KEY));
      return library.C_Sign(session, Buffer.from(digest), Buffer.alloc(64));
    },
    async close() {
      library.C_Finalize();
      library.close();
    },
  };
}

export function openPkcs11(settings: Settings): Keys {
  const library = new (loadPackage().PKCS11)();
  const session = openSession(library, settings);
  return keysOfHolder(createHolder(library, session), settings.keys, settings.logKey);
}
