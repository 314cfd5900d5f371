import type { Static, TSchema } from 'typebox';
import type { ProblemSlug } from './problem.ts';

/**
 * An operation as its capability describes it: where it is, who may call it, what goes in and out, and what it does.
 * The HTTP layer turns these into routes, validation and the OpenAPI document; capabilities know nothing of HTTP.
 */
export type Caller = {
  readonly customerId: string;
  readonly clientId: string;
  readonly scopes: ReadonlySet<string>;
  /** A third-party integration acts for end users, and must say for whom. */
  readonly integration: 'FIRST_PARTY' | 'THIRD_PARTY';
};

export type RouteRequest<Body, Query, Params> = {
  readonly caller: Caller;
  readonly body: Body;
  readonly query: Query;
  readonly params: Params;
  /** Aborted once the caller is gone, or, for a stream, no longer allowed: for whoever waits. */
  signal(): AbortSignal;
  /** A header of the request, by its name in lower case. */
  header(name: string): string | undefined;
};

export type Answer<Body> = {
  /** Text is JSON already, and sent as it is: from whoever has written it down anyway, or can do so faster. */
  readonly body: Body | string;
  /** The record of an earlier, equal request. */
  readonly replayed?: boolean;
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
  readonly scope: string;
  readonly body?: Body;
  readonly query?: Query;
  readonly params?: Params;
  readonly response: Response;
  /** Beyond those that every operation can give. */
  readonly problems: readonly ProblemSlug[];
  /** A request that works in the sandbox as it is, for the documentation. */
  readonly example?: StaticOf<Body>;
  /** What it is answered with, for the documentation. A test asks the service, and compares. */
  readonly answer?: StaticOf<Response>;
  /**
   * Says what is wrong with a body by itself, beside its shape, by throwing the problem; looks at nothing else, and does
   * nothing. Asked only where the shape is wrong, so that all faults are named at once: so the body may be anything.
   */
  examine?(caller: Caller, body: StaticOf<Body>): void;
  /** The media type, when the answer is not one body but a stream of texts; `response` then says what is in it. */
  readonly streams?: string;
  /** Not there in production. */
  readonly sandboxOnly?: boolean;
  handle(
    request: RouteRequest<StaticOf<Body>, StaticOf<Query>, StaticOf<Params>>,
  ): Promise<Answer<StaticOf<Response>>>;
};

/** Keeps the schemas' types while the route is written down, and forgets them afterwards. */
export function route<
  Response extends TSchema,
  Body extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Params extends TSchema | undefined = undefined,
>(definition: Route<Body, Query, Params, Response>): Route {
  return definition;
}
