import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/database.ts';
import { installationValue, keepInstallationValue } from '../database/installation.ts';

/**
 * The sandbox needs no configured key: it keeps one in the database, beside the secrets that it encrypts, so that all nodes
 * have the same. These secrets protect nothing. Production takes its key only from the configuration.
 */
export async function sandboxSecretKey(database: Queryable): Promise<Buffer> {
  // The first value stays, so that nodes that start together agree.
  await keepInstallationValue(database, 'sandbox_secret_key', randomBytes(32).toString('base64'));
  return Buffer.from((await installationValue(database, 'sandbox_secret_key'))!, 'base64');
}
