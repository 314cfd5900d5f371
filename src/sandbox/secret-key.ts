import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/database.ts';
import { installationValue, keepInstallationValue } from '../database/installation.ts';

/**
 * A key that nobody has to configure, beside what it seals: enough for a sandbox, where the secrets protect nothing,
 * and the same for all nodes. Production takes its key from the configuration only.
 */
export async function sandboxSecretKey(database: Queryable): Promise<Buffer> {
  // The first value stays: nodes that start together agree.
  await keepInstallationValue(database, 'sandbox_secret_key', randomBytes(32).toString('base64'));
  return Buffer.from((await installationValue(database, 'sandbox_secret_key'))!, 'base64');
}
