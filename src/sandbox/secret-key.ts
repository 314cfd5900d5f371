import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/database.ts';
import { installationValue, keepInstallationValue } from '../database/installation.ts';

/**
 * The sandbox needs no configured key: it stores one in the database, beside the secrets that it encrypts, so that all nodes
 * have the same key. These secrets protect nothing of value. Production takes its key only from the configuration.
 */
export async function sandboxSecretKey(database: Queryable): Promise<Buffer> {
  const name = 'sandbox_secret_key';
  let key = await installationValue(database, name);
  if (key === undefined) {
    // The first value is kept, so that nodes that start at the same time agree.
    await keepInstallationValue(database, name, randomBytes(32).toString('base64'));
    key = await installationValue(database, name);
  }
  return Buffer.from(key!, 'base64');
}
