import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Budget, createBudget, giveBack, pointsFrom, refill, waitMs } from '../kernel/budget.ts';
import { createGenerations } from '../kernel/generations.ts';
import { Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';

export type RequestKind = 'read' | 'write';

/** What one customer uses of this node. */
export type CustomerUse = {
  readonly id: string;
  readonly perSecond: number;
  readonly budget: Budget;
  readonly inFlight: Record<RequestKind, number>;
};

/** What one client uses of this node. */
export type ClientUse = {
  readonly id: string;
  readonly customer: CustomerUse;
  readonly budget: Budget;
  inFlight: number;
  /** The policies as a header: what they allow is the same for all requests. */
  readonly policy: string;
  /** Listeners for the end of a response. */
  readonly leave: Readonly<Record<RequestKind, () => void>>;
  /** So many of its requests are no longer in flight. */
  end(kind: RequestKind, count: number): void;
};

/**
 * Rate limits, and what customers have in flight. A customer and each of its clients have a budget of points; a request takes
 * points of both. Each node counts for itself.
 */
export type Usage = {
  /**
   * Takes the points and counts the request until its response is closed. Throws a problem if the client has too many
   * requests in flight, or if a budget has too few points: then it takes none.
   */
  enter(caller: Caller, kind: RequestKind, points: number, response: ServerResponse): ClientUse;
  /**
   * The request turned out to be as many requests as `count`: they cost a point each, instead of the points that were taken, and
   * count as in flight until the response is closed. Throws a problem if that is too much.
   */
  countAs(
    caller: Caller,
    kind: RequestKind,
    count: number,
    taken: number,
    response: ServerResponse,
  ): ClientUse;
  /** The request turned out to be cheaper than it could have been. */
  giveBack(client: ClientUse, taken: number, cost: number): void;
  /** Whether the customer of this connection has fewer requests in flight than its share of this many. */
  isWithinShare(socket: Socket, kind: RequestKind, inFlightMax: number): boolean;
};

/** RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers: a quota of q points per window of w seconds. */
function policyOf(customer: Budget, client: Budget): string {
  const quota = (name: string, { pointsMax }: Budget): string =>
    `"${name}";q=${Math.floor(pointsMax)};w=${LIMITS.rateSeconds}`;
  return `${quota('client', client)}, ${quota('customer', customer)}`;
}

/** RateLimit of the same draft: what is left, and in how many seconds the quota is full again. */
function remaining(name: string, { points, pointsMax, perSecond }: Budget): string {
  return `"${name}";r=${Math.max(0, Math.floor(points))};t=${Math.ceil((pointsMax - points) / perSecond)}`;
}

export function rateLimitOf({ customer, budget }: ClientUse): string {
  return `${remaining('client', budget)}, ${remaining('customer', customer.budget)}`;
}

export function rateProblem(whose: string, perSecond: number, retryMs: number): Problem {
  return new Problem(
    'rate-limited',
    `${whose} exceeds its rate of ${perSecond} points a second. Nothing was executed; retry after ${retryMs} ms.`,
    { points_per_second: perSecond, retry_after_ms: retryMs },
    Math.ceil(retryMs / 1_000),
  );
}

function tooMany({ id, inFlight }: ClientUse): Problem {
  const detail = `Client ${id} has ${inFlight} requests in flight, which is the maximum.`;
  return new Problem('rate-limited', detail, { in_flight: inFlight }, 1);
}

/** Of a request that counts as many, which is among those in flight. */
function tooManyMore({ id, inFlight }: ClientUse, count: number): Problem {
  const others = inFlight - 1;
  const detail = `Client ${id} has ${others} requests in flight. With the ${count} of this one it would exceed the maximum of ${LIMITS.clientRequestsMax}. Nothing was executed; retry.`;
  return new Problem('rate-limited', detail, { in_flight: others }, 1);
}

/** Throws a problem if a budget has too few points. */
function requirePoints({ id, customer, budget }: ClientUse, points: number, nowMs: number): void {
  refill(budget, nowMs);
  refill(customer.budget, nowMs);
  const clientWaitMs = waitMs(budget, points);
  if (clientWaitMs > 0) throw rateProblem(`Client ${id}`, budget.perSecond, clientWaitMs);
  const customerWaitMs = waitMs(customer.budget, points);
  if (customerWaitMs > 0) throw rateProblem(`Customer ${customer.id}`, customer.perSecond, customerWaitMs);
}

function takePoints(client: ClientUse, points: number, nowMs: number): void {
  requirePoints(client, points, nowMs);
  const { budget, customer } = client;
  budget.points -= pointsFrom(budget, points);
  customer.budget.points -= pointsFrom(customer.budget, points);
}

export function createUsage(): Usage {
  const customers = createGenerations<CustomerUse>(LIMITS.knownClientsMax);
  const clients = createGenerations<ClientUse>(LIMITS.knownClientsMax);
  const customerOf = new WeakMap<Socket, CustomerUse>();
  const active: Record<RequestKind, number> = { read: 0, write: 0 };

  function newCustomer(id: string, perSecond: number, before: CustomerUse | undefined): CustomerUse {
    const budget = createBudget(perSecond, LIMITS.rateSeconds, performance.now());
    // With another rate, the requests in flight are still the same.
    const made = { id, perSecond, budget, inFlight: before?.inFlight ?? { read: 0, write: 0 } };
    customers.set(id, made);
    return made;
  }

  function newClient(id: string, customer: CustomerUse): ClientUse {
    const { inFlight } = customer;
    const end = (kind: RequestKind, count: number): void => {
      made.inFlight -= count;
      inFlight[kind] -= count;
      if (inFlight[kind] === 0) active[kind] -= 1;
    };
    const budget = createBudget(
      customer.perSecond * LIMITS.clientRateShare,
      LIMITS.rateSeconds,
      performance.now(),
    );
    const leave = { read: () => end('read', 1), write: () => end('write', 1) };
    const policy = policyOf(customer.budget, budget);
    const made: ClientUse = { id, customer, budget, inFlight: 0, policy, leave, end };
    clients.set(id, made);
    return made;
  }

  function clientOf({ clientId, customerId, pointsPerSecond }: Caller): ClientUse {
    const perSecond = pointsPerSecond ?? LIMITS.customerPointsPerSecond;
    const known = clients.get(clientId);
    if (known !== undefined && known.customer.id === customerId && known.customer.perSecond === perSecond)
      return known;
    const customer = customers.get(customerId);
    return newClient(
      clientId,
      customer?.perSecond === perSecond ? customer : newCustomer(customerId, perSecond, customer),
    );
  }

  return {
    enter(caller, kind, points, response) {
      const client = clientOf(caller);
      const { inFlight } = client.customer;
      if (client.inFlight >= LIMITS.clientRequestsMax) throw tooMany(client);
      takePoints(client, points, performance.now());
      const { socket } = response.req;
      if (customerOf.get(socket) !== client.customer) customerOf.set(socket, client.customer);
      // If the client disconnected while its token was being verified, `close` is not emitted again.
      if (response.closed) return client;
      if (inFlight[kind] === 0) active[kind] += 1;
      inFlight[kind] += 1;
      client.inFlight += 1;
      // Emitted exactly once: after the response, when the client disconnects, or when the service cuts the connection.
      response.on('close', client.leave[kind]);
      return client;
    },
    countAs(caller, kind, count, taken, response) {
      const client = clientOf(caller);
      const { customer, budget } = client;
      const more = count - 1;
      if (client.inFlight + more > LIMITS.clientRequestsMax) throw tooManyMore(client, count);
      const budgets = [budget, customer.budget];
      for (const one of budgets) giveBack(one, taken, 0);
      try {
        requirePoints(client, count, performance.now());
      } catch (error) {
        for (const one of budgets) one.points -= pointsFrom(one, taken);
        throw error;
      }
      // All of them, even if the budget cannot hold as many: the client then waits until the debt is paid.
      for (const one of budgets) one.points -= Math.max(count, taken);
      if (response.closed) return client;
      customer.inFlight[kind] += more;
      client.inFlight += more;
      response.on('close', () => client.end(kind, more));
      return client;
    },
    giveBack(client, taken, cost) {
      giveBack(client.budget, taken, cost);
      giveBack(client.customer.budget, taken, cost);
    },
    isWithinShare(socket, kind, inFlightMax) {
      const customer = customerOf.get(socket);
      return customer !== undefined && customer.inFlight[kind] < inFlightMax / Math.max(1, active[kind]);
    },
  };
}
