import type { Static, TSchema } from 'typebox';
import type { ProblemSlug } from './problem.ts';

/**
 * An operation as its capability describes it: its path, who may call it, its request and response, and what it does. The
 * HTTP layer turns these into routes, validation and the OpenAPI document; capabilities do not depend on HTTP.
 */
export type Caller = {
  /** Of a person of the operator: that of nobody (`OPERATOR_ID`), or of the customer whose data they look at. */
  readonly customerId: string;
  /** The id of the client; of a person who has signed in, the id of the person. */
  readonly clientId: string;
  /** Absent for clients. */
  readonly kind?: 'client' | 'person' | undefined;
  readonly name?: string | undefined;
  /** The person who owns the client. */
  readonly ownerPersonId?: string | undefined;
  /** The address and the id of the request, set by the HTTP layer for operations that write. `actorOf` makes an actor of it. */
  readonly from?: string | undefined;
  readonly requestId?: string | undefined;
  readonly scopes: ReadonlySet<string>;
  /** A third-party integration acts for end users, and must name the end user. */
  readonly integration: 'FIRST_PARTY' | 'THIRD_PARTY';
  /** The rate limit of the customer, if it has one of its own. */
  readonly pointsPerSecond?: number | undefined;
  /** Set if a person calls, with a session, instead of a client with a token. */
  readonly person?: CallingPerson | undefined;
};

/** In place of a customer, for people of the operator. No customer has this id. */
export const OPERATOR_ID = '00000000-0000-0000-0000-000000000000';

export type CallingPerson = {
  readonly id: string;
  readonly sessionId: string;
  readonly roles: readonly string[];
  /** Of the operator, and not of a customer. */
  readonly isOperator: boolean;
  /** How long ago the person proved who they are, by the database's clock. */
  readonly authenticatedAgoMs: number;
};

export type RouteRequest<Body, Query, Params> = {
  readonly caller: Caller;
  readonly body: Body;
  readonly query: Query;
  readonly params: Params;
  /** For handlers that wait. Aborted when the caller disconnects or, during a stream, is no longer permitted. */
  signal(): AbortSignal;
  /**
   * Waits without occupying one of the places for reads. Everything that waits for something other than the database must
   * wait with this function.
   */
  rest<Result>(wait: Promise<Result>): Promise<Result>;
  /** An error as users see it, as JSON, for answers that contain the problems of several parts. */
  problemText(error: unknown): string;
  /** A header of the request, by its name in lower case. */
  header(name: string): string | undefined;
};

export type Answer<Body> = {
  /** A string is JSON already and is sent as it is, by handlers that have it anyway or can build it faster. */
  readonly body: Body | string;
  /** The body is the record of an earlier, equal request. */
  readonly replayed?: boolean;
  /** 202: the action waits for others to approve it, and the body is the request for that. */
  readonly status?: 202;
  /** Of a stream, if it is not the first one of the route. */
  readonly mediaType?: string;
};

/** The action, and the answer 202 with which it waits; without one, it is executed at once. */
export type Privileged = {
  readonly action: string;
  readonly proposed?: { readonly shape: TSchema; readonly example: object };
};

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

export type Route<
  Body extends TSchema | undefined = TSchema | undefined,
  Query extends TSchema | undefined = TSchema | undefined,
  Params extends TSchema | undefined = TSchema | undefined,
  Response extends TSchema = TSchema,
> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** In OpenAPI's form: `/v2/transfer/transfers/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Null: for every caller. */
  readonly scope: string | null;
  /** A second scope that the caller needs: the operation also does what another scope protects. */
  readonly alsoScope?: string;
  /** A person must have proved who they are within this time; see `step-up.ts`. */
  readonly stepUpMs?: number;
  readonly body?: Body;
  /** If the body may be larger than that of other operations. */
  readonly bodyBytesMax?: number;
  readonly query?: Query;
  readonly params?: Params;
  readonly response: Response;
  /** In addition to those that every operation can answer. The capability has an example of each. */
  readonly problems: readonly ProblemSlug[];
  /** How many requests the body counts as in rate limits and shares; absent: one. Called with a body of the right shape. */
  countsAs?(body: StaticOf<Body>): number;
  /** A request for the documentation, which works in the sandbox as it is. */
  readonly example?: StaticOf<Body>;
  /** The answer to it, for the documentation. A test compares it with a real one. */
  readonly answer?: StaticOf<Response>;
  /**
   * Checks the body by itself beyond its shape, and throws a problem if it is invalid. Without side effects. Called only if
   * the shape is invalid, so that all errors are reported at once: the body can be anything then.
   */
  examine?(caller: Caller, body: StaticOf<Body>): void;
  /** The media types that the answer can have, if it is a stream of texts; the first is the default. */
  readonly streams?: readonly [string, ...string[]];
  /** The address in the request, as an expression of OpenAPI, to which the service sends events from then on. */
  readonly eventsTo?: string;
  /** It may need the approval of others. Refused attempts are recorded. */
  readonly privileged?: Privileged;
  /** Does not exist in production. */
  readonly sandboxOnly?: boolean;
  handle(
    request: RouteRequest<StaticOf<Body>, StaticOf<Query>, StaticOf<Params>>,
  ): Promise<Answer<StaticOf<Response>>>;
};

/** Checks the handler and the examples against the schemas, and returns a route of the general type. */
export function route<
  Response extends TSchema,
  Body extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Params extends TSchema | undefined = undefined,
>(definition: Route<Body, Query, Params, Response>): Route {
  return definition;
}
