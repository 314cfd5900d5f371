import type { Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import { type Authenticable, authenticableClients } from './credential-store.ts';

/** Undefined when there is no such client. Always as of a query that began after the call: nothing is cached. */
export type ClientLookup = (clientId: string) => Promise<Authenticable | undefined>;

type Asked = {
  readonly id: string;
  resolve(client: Authenticable | undefined): void;
  reject(error: unknown): void;
};

/**
 * One query at a time, for all ids that were asked for while the one before ran. So a flood of invented ids keeps one
 * connection busy, however many clients send it, and everybody is answered after two queries at most.
 */
export function createClientLookup(database: Queryable): ClientLookup {
  const waiting: Asked[] = [];
  let isAsking = false;

  async function ask(asked: readonly Asked[]): Promise<void> {
    try {
      const ids = new Set(asked.map(({ id }) => id));
      const clients = await authenticableClients(database, [...ids]);
      const byId = new Map(clients.map((client) => [client.id, client]));
      for (const { id, resolve } of asked) resolve(byId.get(id));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  async function askAll(): Promise<void> {
    isAsking = true;
    while (waiting.length > 0) await ask(waiting.splice(0, LIMITS.clientLookupMax));
    isAsking = false;
  }

  return (id) =>
    new Promise((resolve, reject) => {
      waiting.push({ id, resolve, reject });
      if (!isAsking) void askAll();
    });
}
