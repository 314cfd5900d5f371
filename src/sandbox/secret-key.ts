import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/database.ts';
import { agreeOnValue } from './store.ts';

/**
 * A key that nobody has to configure, beside what it seals: enough for a sandbox, where the secrets protect nothing,
 * and the same for all nodes. Production takes its key from the configuration only.
 */
export async function sandboxSecretKey(database: Queryable): Promise<Buffer> {
  const value = await agreeOnValue(database, 'sandbox_secret_key', randomBytes(32).toString('base64'));
  return Buffer.from(value, 'base64');
}
