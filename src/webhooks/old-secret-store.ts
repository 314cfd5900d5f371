import { createDecipheriv } from 'node:crypto';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import { newSecret } from './secrets.ts';
import { sealedSecrets } from './store.ts';

/** Secrets from before the vault: each was encrypted with FERRY_SECRET_KEY itself, as `v1:<iv, tag and text in base64>`. */
const IS_OLD = `(secret like 'v1:%' or previous_secret like 'v1:%')`;

type OldRow = { readonly id: string; readonly secret: string | null; readonly previousSecret: string | null };

function openWith(key: Buffer, text: string, endpointId: string): string | undefined {
  const bytes = Buffer.from(text.slice('v1:'.length), 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
      .setAAD(Buffer.from(endpointId))
      .setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  } catch {
    // Another key encrypted it.
    return undefined;
  }
}

/** The secret, whichever of the keys encrypted it; undefined if none did. */
function openOld(keys: readonly Buffer[], text: string, endpointId: string): string | undefined {
  for (const key of keys) {
    const secret = openWith(key, text, endpointId);
    if (secret !== undefined) return secret;
  }
  return undefined;
}

function oldRows(tx: Queryable, rowsMax: number, lock = ''): Promise<OldRow[]> {
  return tx.query<OldRow>(
    `select id, secret, previous_secret as "previousSecret" from webhook_endpoints
     where ${IS_OLD} order by id limit $1 ${lock}`,
    [rowsMax],
  );
}

/** False if there are old secrets, and none that was looked at can be opened with these keys: they are the wrong ones. */
export async function canOpenOldSecrets(database: Queryable, keys: readonly Buffer[]): Promise<boolean> {
  const rows = (await oldRows(database, LIMITS.sealRowsMax)).filter(({ secret }) =>
    secret?.startsWith('v1:'),
  );
  return rows.length === 0 || rows.some(({ id, secret }) => openOld(keys, secret!, id) !== undefined);
}

const LOST = 'The service lost the secret of this endpoint: rotate it, then enable the endpoint.';

/**
 * Seals the old secrets with the vault. An endpoint whose secret cannot be opened, because the key was changed before, gets a
 * secret that nobody knows, and is disabled. Nodes that start together wait for each other.
 */
export async function sealOldSecrets(database: Database, keys: readonly Buffer[]): Promise<void> {
  const readable = (text: string | null, id: string): string | null => {
    if (!text?.startsWith('v1:')) return null;
    return openOld(keys, text, id) ?? null;
  };
  for (let count: number = LIMITS.sealRowsMax; count === LIMITS.sealRowsMax; ) {
    count = await database.transaction(async (tx) => {
      const rows = await oldRows(tx, LIMITS.sealRowsMax, 'for update');
      const opened = rows.map(({ id, secret, previousSecret }) => {
        const known = readable(secret, id);
        const isLost = secret !== null && known === null;
        return {
          id,
          isLost,
          secret: isLost ? newSecret() : known,
          previousSecret: readable(previousSecret, id),
        };
      });
      if (rows.length > 0)
        await tx.query(
          `update webhook_endpoints w
           set secret = row.secret, previous_secret = row.previous_secret, enabled = w.enabled and not row.is_lost,
               disabled_reason = case when row.is_lost and w.enabled then $5 else w.disabled_reason end
           from unnest($1::uuid[], $2::boolean[], $3::text[], $4::text[]) as row (id, is_lost, secret, previous_secret)
           where w.id = row.id`,
          [...columns(opened, { id: 'uuid', isLost: 'boolean', ...sealedSecrets(tx.vault()) }), LOST],
        );
      return rows.length;
    });
  }
}
