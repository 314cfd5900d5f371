import type { Queryable } from '../database/database.ts';
import { createGenerations } from '../kernel/generations.ts';
import { type AddressRanges, addressRanges, isAddressRange } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import { splitScope } from './scopes.ts';
import { type ClientRow, clientRows, type Integration } from './store.ts';

/** A client as of the last query. As long as nothing of it changes, it is the same object. */
export type ClientState = {
  readonly id: string;
  readonly customerId: string;
  readonly name: string;
  /** The person who owns the client. */
  readonly ownerPersonId: string | undefined;
  readonly integration: Integration;
  readonly disabled: boolean;
  /** The rate limit of the customer, if it has one of its own. */
  readonly pointsPerSecond: number | undefined;
  readonly scopes: ReadonlySet<string>;
  /** Undefined: from anywhere. */
  readonly addresses: AddressRanges | undefined;
  /** Ids of tokens. */
  readonly revoked: ReadonlySet<string>;
};

/**
 * A cache of the clients that call this node. A verified token is not verified again unless its client has changed, so this
 * cache is what notices a disabled client, fewer scopes, other addresses and revoked tokens. A poll refreshes all cached
 * clients with one statement. An entry older than `staleMs` (because the poll failed or is late) is not used.
 */
export type ClientDirectory = {
  /** From the cache: undefined when unknown or stale. `nowMs` is monotonic. */
  peek(clientId: string, nowMs: number): ClientState | undefined;
  /** Undefined when there is no such client. */
  find(clientId: string): Promise<ClientState | undefined>;
  /** Reads this client again, if it is cached. */
  changed(clientId: string): Promise<void>;
  refresh(): Promise<void>;
};

type Known = { readonly row: ClientRow; readonly state: ClientState; readonly askedAtMs: number };

function isSame(one: ClientRow, other: ClientRow): boolean {
  return (
    one.disabled === other.disabled &&
    one.ownerPersonId === other.ownerPersonId &&
    one.scopes === other.scopes &&
    one.allowedAddresses === other.allowedAddresses &&
    one.revokedTokens === other.revokedTokens &&
    one.integration === other.integration &&
    one.pointsPerSecond === other.pointsPerSecond &&
    one.customerId === other.customerId
  );
}

function stateOf(row: ClientRow): ClientState {
  const { id, customerId, integration, disabled, scopes, allowedAddresses, revokedTokens } = row;
  return {
    id,
    customerId,
    name: row.name,
    ownerPersonId: row.ownerPersonId ?? undefined,
    integration,
    disabled,
    pointsPerSecond: row.pointsPerSecond ?? undefined,
    scopes: new Set(splitScope(scopes)),
    // A range that was written by hand and is invalid matches nothing.
    addresses:
      allowedAddresses === null
        ? undefined
        : addressRanges(splitScope(allowedAddresses).filter(isAddressRange)),
    revoked: new Set(splitScope(revokedTokens ?? '')),
  };
}

export function createClientDirectory(database: Queryable, staleMs: number): ClientDirectory {
  const known = createGenerations<Known>(LIMITS.knownClientsMax);
  const underWay = new Map<string, Promise<ClientState | undefined>>();

  function peek(clientId: string, nowMs: number): ClientState | undefined {
    const entry = known.get(clientId);
    return entry !== undefined && nowMs - entry.askedAtMs < staleMs ? entry.state : undefined;
  }

  async function ask(ids: readonly string[]): Promise<void> {
    const askedAtMs = performance.now();
    const rows = new Map((await clientRows(database, ids)).map((row) => [row.id, row]));
    for (const id of ids) {
      const [row, before] = [rows.get(id), known.get(id)];
      // A late answer must not overwrite a newer one.
      if ((before?.askedAtMs ?? -1) > askedAtMs) continue;
      if (row === undefined) known.delete(id);
      else {
        const state = before !== undefined && isSame(row, before.row) ? before.state : stateOf(row);
        known.set(id, { row, state, askedAtMs });
      }
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
    async changed(clientId) {
      if (known.get(clientId) !== undefined) await ask([clientId]);
    },
    async refresh() {
      const ids = known.keys();
      if (ids.length > 0) await ask(ids);
    },
  };
}
