import { createHash } from 'node:crypto';
import Client from 'ssh2-sftp-client';
import { BANK_LIMITS } from '../limits-banks.ts';
import type { SftpSettings } from './settings.ts';
import { bounded, type Session, type Transport } from './transport.ts';

/** As `ssh-keygen -l` prints it. */
export const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

function sessionOn(client: Client): Session {
  const within = <Value>(what: string, work: Promise<Value>): Promise<Value> =>
    bounded(BANK_LIMITS.transportTimeoutMs, what, work);
  return {
    async list(directory) {
      const listed = await within(`listing ${directory}`, client.list(directory));
      return listed
        .filter(({ type }) => type === '-')
        .slice(0, BANK_LIMITS.listedFilesMax)
        .map(({ name, size, modifyTime }) => ({ name, bytes: size, modifiedMs: modifyTime }));
    },
    read: (path) => within(`reading ${path}`, client.get(path)),
    async write(path, bytes) {
      await within(`writing ${path}`, client.put(bytes, path));
    },
    async rename(from, to) {
      await within(`renaming ${from}`, client.rename(from, to));
    },
    exists: async (path) => (await within(`looking for ${path}`, client.exists(path))) !== false,
    async remove(path) {
      await within(`deleting ${path}`, client.delete(path, true));
    },
    async close() {
      // A server that does not answer to the end of the connection is not waited for.
      await bounded(BANK_LIMITS.connectTimeoutMs, 'disconnecting', client.end()).catch(() => undefined);
    },
  };
}

/** SFTP with a key of ours, to the server that has exactly the configured key. */
export function sftpTransport(settings: SftpSettings): Transport {
  const { host, port, user, privateKey, passphrase, hostKey } = settings;
  return {
    name: `sftp://${user}@${host}:${port}`,
    async connect() {
      let found: string | undefined;
      let failure: Error | undefined;
      // Errors of an idle connection are found by the next call. Without these the library writes to the console.
      const client = new Client('ferry', {
        error: (error) => {
          failure ??= error;
        },
        end: () => undefined,
        close: () => undefined,
      });
      const connected = client.connect({
        host,
        port,
        username: user,
        privateKey,
        passphrase,
        readyTimeout: BANK_LIMITS.connectTimeoutMs,
        hostVerifier(key) {
          found = fingerprintOf(key);
          return found === hostKey;
        },
      });
      try {
        await bounded(BANK_LIMITS.connectTimeoutMs * 2, `connecting to ${host}`, connected);
      } catch (error) {
        await bounded(BANK_LIMITS.connectTimeoutMs, 'disconnecting', client.end()).catch(() => undefined);
        if (found !== undefined && found !== hostKey)
          throw new Error(
            `the host key of ${host}:${port} is ${found}, and not the configured ${hostKey}: nothing was sent`,
            { cause: error },
          );
        const { message } = failure ?? (error as Error);
        throw new Error(`cannot connect to ${host}:${port} as ${user}: ${message}`, { cause: error });
      }
      return sessionOn(client);
    },
  };
}
