import type { Logger } from 'pino';
import type { Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import { canOpen, type Sealer } from './secrets.ts';
import { sealedSecrets } from './store.ts';

/**
 * Checks once, when the service starts, whether the key decrypts the secrets in this database. A wrong key does not prevent
 * the start, because money moves without it; but an operator who has just changed the key must be told.
 */
export async function checkSecretKey(
  database: Queryable,
  sealer: Sealer,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const secrets = await sealedSecrets(database, LIMITS.webhookSecretsCheckedMax);
  const unreadable = secrets.filter(({ id, secret }) => !canOpen(sealer, secret, id));
  if (unreadable.length === 0) return;
  log.error(
    { unreadable: unreadable.length, checked: secrets.length },
    'FERRY_SECRET_KEY does not decrypt the secrets of webhook endpoints in this database: nothing is sent to these endpoints until the key that encrypted them is restored, or their secrets are rotated',
  );
}
