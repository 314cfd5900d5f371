import type { Database } from '../database/database.ts';
import { connectToSign, reasonOf } from '../database/reach.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import type { RecordingSigner } from './contract.ts';
import { createSigner } from './decide.ts';
import { SignerError } from './failure.ts';
import type { Keys } from './keys.ts';
import { type DecisionLog, openLog } from './log.ts';
import type { Policy } from './policy.ts';
import type { Listen } from './server.ts';
import { openSigned } from './store.ts';

export type SignerSettings = {
  readonly listen: Listen;
  databaseUrl(): string;
  readonly logPath: string;
  readonly keys: KeySettings;
  readonly policy: Policy;
};

/** By the path of a key, such as `m/44'/60'/0'/0/0`: its label in the token, or its id in the service. */
type HeldKeys = { readonly keys: ReadonlyMap<string, string>; readonly logKey: Buffer };

export type KeySettings =
  | { readonly kind: 'sealed_file'; readonly path: string; readonly passphrase: (() => Buffer) | undefined }
  | ({
      readonly kind: 'pkcs11';
      readonly module: string;
      readonly token: string;
      readonly pin: string;
    } & HeldKeys)
  | ({ readonly kind: 'aws_kms'; readonly region: string; readonly endpoint: string | undefined } & HeldKeys);

/** `askPassphrase` is called if the configuration names none. */
export async function openKeys(settings: KeySettings, askPassphrase: () => Promise<Buffer>): Promise<Keys> {
  if (settings.kind === 'sealed_file') {
    const { openSealed } = await import('./sealed-file.ts');
    return openSealed(settings.path, settings.passphrase?.() ?? (await askPassphrase()));
  }
  if (settings.kind === 'pkcs11') return (await import('./pkcs11.ts')).openPkcs11(settings);
  return (await import('./aws-kms.ts')).openAwsKms(settings);
}

/** An empty log beside a database with signed assignments: a copy was lost, or the path is wrong. */
async function checkComplete(database: Database, { history, path }: DecisionLog): Promise<void> {
  const open = await openSigned(database, LIMITS.signerOpenCheckedMax).catch((error: unknown) => {
    throw new SignerError(
      `The signer cannot read its views in the database: ${reasonOf(error)}. Name its role with "ferry migrate --signer-role <role>".`,
    );
  });
  const unknown = open.filter((id) => !history.isSigned(id));
  if (unknown.length === 0) return;
  throw new SignerError(
    `${path} does not contain assignment ${unknown[0]}, which the database says was signed and may still be executed (${unknown.length} of ${open.length} are missing). The log is not the one that this signer wrote: restore it, because without it payments could be signed twice.`,
  );
}

export type OpenedSigner = {
  readonly signer: RecordingSigner;
  readonly keys: Keys;
  readonly log: DecisionLog;
  close(): Promise<void>;
};

/** The signer with everything that it needs, ready to serve. */
export async function openSigner(
  settings: SignerSettings,
  parts: {
    readonly networks: Networks;
    readonly nowMs: () => number;
    askPassphrase(): Promise<Buffer>;
  },
): Promise<OpenedSigner> {
  const { networks, nowMs, askPassphrase } = parts;
  const address = { url: settings.databaseUrl() };
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closers.toReversed()) await one();
  };
  try {
    const keys = await openKeys(settings.keys, askPassphrase);
    closers.push(() => keys.close());
    const log = await openLog(settings.logPath, keys.logKey);
    closers.push(() => log.close());
    const database = connectToSign(address, LIMITS.signerDatabaseConnectionsMax);
    closers.push(() => database.close());
    await checkComplete(database, log);
    const signer = await createSigner({ database, networks, keys, log, nowMs, policy: settings.policy });
    return { signer, keys, log, close };
  } catch (error) {
    await close();
    throw error;
  }
}
