import type { Static, TSchema } from 'typebox';

/**
 * An endpoint for a system of the operator that signs its requests instead of presenting a token. It is not an operation of
 * the API: it has no scope and no customer, and its own documentation.
 */
export type SignedRoute = {
  readonly path: string;
  readonly body: TSchema;
  readonly response: TSchema;
  /** Throws a problem unless the signature is valid. Called with the bytes of the body, before they are parsed. */
  verify(header: (name: string) => string | undefined, body: Buffer): void;
  handle(body: never): Promise<object>;
};

/** Ties the type of the body to its schema. */
export function signedRoute<const Body extends TSchema>(
  definition: Omit<SignedRoute, 'body' | 'handle'> & {
    readonly body: Body;
    handle(body: Static<Body>): Promise<object>;
  },
): SignedRoute {
  return definition;
}
