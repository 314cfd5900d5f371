import type { Database, Transaction } from '../database/database.ts';
import { recordChanges } from '../events/append.ts';
import { type Actor, workerActor } from '../kernel/actor.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { Client, Customer } from './store.ts';

/** What the audit log shows of customers, clients and their credentials. Never a secret. */

/** The service itself, where nobody else is named: the sandbox creates its demo customers. */
const SERVICE = workerActor('administration');

export type AdministrationChange = {
  readonly action: string;
  readonly customerId: string | null;
  readonly resourceId: string;
  readonly after: object | null;
};

/** Who changes clients on the command line. */
export const administratorOf = ({ actor }: Pick<Database, 'actor'>): Actor => actor ?? SERVICE;

export async function recordAdministration(
  tx: Transaction,
  actor: Actor,
  now: Instant,
  changes: readonly AdministrationChange[],
): Promise<void> {
  await recordChanges(
    tx,
    actor,
    changes.map((one) => ({ ...one, at: now })),
  );
}

export function customerChange(what: string, customer: Customer): AdministrationChange {
  const { id, name, integration, pointsPerSecond, createdAtNs } = customer;
  return {
    action: `customer.${what}`,
    customerId: id,
    resourceId: id,
    after: {
      id,
      name,
      integration,
      ...(pointsPerSecond !== null && { points_per_second: pointsPerSecond }),
      created_at: formatInstant(createdAtNs),
    },
  };
}

/** As the API shows it. */
export function presentClient(client: Client) {
  return {
    client_id: client.id,
    customer_id: client.customerId,
    name: client.name,
    scopes: [...client.scopes],
    ...(client.allowedAddresses !== null && { allowed_addresses: [...client.allowedAddresses] }),
    ...(client.ownerPersonId !== null && { owner_person_id: client.ownerPersonId }),
    created_at: formatInstant(client.createdAtNs),
    ...(client.disabledAtNs !== null && { disabled_at: formatInstant(client.disabledAtNs) }),
  };
}

export function clientChange(what: string, client: Client): AdministrationChange {
  const { id: resourceId, customerId } = client;
  return { action: `client.${what}`, customerId, resourceId, after: presentClient(client) };
}
