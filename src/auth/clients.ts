import type { Database } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import { createGenerations } from './generations.ts';
import { type ClientState, clientStates } from './store.ts';

/**
 * What this node knows of the clients that call it. Tokens are not looked at again once verified, so this is where
 * a disabled client is noticed: a poll asks for all known clients with one statement, and what is older than
 * `staleMs` (the poll fails, or is late) is not used without asking.
 */
export type ClientDirectory = {
  /** Without asking anybody: undefined when unknown or too old. `nowMs` is monotonic. */
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
      // An older answer that comes late must not cover a newer one.
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
      // Many requests of one client arrive together; they share the question.
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
