/**
 * Who does something: a client with a token, a person who has signed in, a worker of the service, or a user of the command
 * line. Every command has an actor, and it is stored with what the command changed, in the same transaction.
 */
export type ActorKind = 'client' | 'person' | 'worker' | 'cli';

export type Actor = {
  readonly kind: ActorKind;
  /** The id of the client or of the person, the name of the worker, or the user of the operating system. */
  readonly id: string;
  /** The customer of the client or person. Workers and users of the command line have none. */
  readonly customerId?: string | undefined;
  readonly name?: string | undefined;
  /** The person who owns the client: two clients of one person count as that person when a request needs a second approver. */
  readonly ownerPersonId?: string | undefined;
  /** The address that the request came from. */
  readonly from?: string | undefined;
  readonly requestId?: string | undefined;
};

/** What the HTTP layer knows of a caller. `kind` is absent for clients. */
export type ActingCaller = {
  readonly customerId: string;
  readonly clientId: string;
  readonly kind?: 'client' | 'person' | undefined;
  readonly name?: string | undefined;
  readonly ownerPersonId?: string | undefined;
  readonly from?: string | undefined;
  readonly requestId?: string | undefined;
};

/** All actors have the same shape, because the write path handles thousands of them per second. */
export function actorOf(caller: ActingCaller): Actor {
  return {
    kind: caller.kind ?? 'client',
    id: caller.clientId,
    customerId: caller.customerId,
    name: caller.name,
    ownerPersonId: caller.ownerPersonId,
    from: caller.from,
    requestId: caller.requestId,
  };
}

/** A part of the service that acts by itself: `worker:withdrawals`. */
export function workerActor(name: string): Actor {
  return { kind: 'worker', id: `worker:${name}` };
}

/** A user of the operating system who runs a command: `cli:alice`. */
export function cliActor(user: string): Actor {
  return { kind: 'cli', id: `cli:${user}` };
}

/** As one text: `client:…`, `person:…`, `worker:withdrawals`, `cli:alice`. */
export function actorText({ kind, id }: Actor): string {
  return kind === 'client' || kind === 'person' ? `${kind}:${id}` : id;
}

/** The human being behind it, as far as the service knows. */
export function personOf({ kind, id, ownerPersonId }: Actor): string | undefined {
  return kind === 'person' ? id : ownerPersonId;
}

/** Whether both are the same client, person or user, or belong to the same person. */
export function isSameHand(one: Actor, other: Actor): boolean {
  if (one.kind === other.kind && one.id === other.id) return true;
  const person = personOf(one);
  return person !== undefined && person === personOf(other);
}

/** As answers show it. */
export function presentActor({ kind, id, customerId, name, ownerPersonId, from, requestId }: Actor) {
  return {
    kind: kind.toUpperCase() as Uppercase<ActorKind>,
    id,
    ...(customerId !== undefined && { customer_id: customerId }),
    ...(name !== undefined && { name }),
    ...(ownerPersonId !== undefined && { owner_person_id: ownerPersonId }),
    ...(from !== undefined && { from }),
    ...(requestId !== undefined && { request_id: requestId }),
  };
}
