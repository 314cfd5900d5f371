import type { Database } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import { createGenerations } from './generations.ts';
import { type ClientState, clientStates } from './store.ts';

/**
 * A cache of the clients that call this node. A verified token is not verified again, so this cache is what notices a
 * disabled client. A poll refreshes all cached clients with one statement. An entry older than `staleMs` (because the poll
 * failed or is late) is not used.
 */
export type ClientDirectory = {
  /** From the cache: undefined when unknown or stale. `nowMs` is monotonic. */
  peek(clientId: string, nowMs: number): ClientState | undefined;
  /** Undefined when there is no such client. */
  find(clientId: string): Promise<ClientState | undefined>;
  refresh(): Promise<void>;
};

type Known = { readonly state: ClientState; readonly askedAtMs: number };

export function createClientDirectory(database: Database, staleMs: number): ClientDirectory {
  const known = createGenerations<Known>(LIMITS.knownClientsMax);
  const underWay = new Map<string, Promise<ClientState | undefined>>();

  function peek(clientId: string, nowMs: number): ClientState | undefined {
    const entry = known.get(clientId);
    return entry !== undefined && nowMs - entry.askedAtMs < staleMs ? entry.state : undefined;
  }

  async function ask(ids: readonly string[]): Promise<void> {
    const askedAtMs = performance.now();
    const states = new Map((await clientStates(database, ids)).map((state) => [state.id, state]));
    for (const id of ids) {
      const state = states.get(id);
      // A late answer must not overwrite a newer one.
      if ((known.get(id)?.askedAtMs ?? -1) > askedAtMs) continue;
      if (state === undefined) known.delete(id);
      else known.set(id, { state, askedAtMs });
    }
  }

  return {
    peek,
    async find(clientId) {
      const fresh = peek(clientId, performance.now());
      if (fresh !== undefined) return fresh;
      // Concurrent requests of one client share the query.
      let asked = underWay.get(clientId);
      if (asked === undefined) {
        asked = ask([clientId])
          .then(() => known.get(clientId)?.state)
          .finally(() => underWay.delete(clientId));
        underWay.set(clientId, asked);
      }
      return asked;
    },
    async refresh() {
      const ids = known.keys();
      if (ids.length > 0) await ask(ids);
    },
  };
}
