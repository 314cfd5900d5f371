import { decodeJwt } from 'jose';
import type { Credentials } from './secrets.ts';

/** Reads requests of clients (RFC 6749 sections 2.3.1 and 4.4.2, RFC 7523 section 2.2). Errors are those of section 5.2. */
export type TokenErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'
  | 'server_error';

export class TokenError extends Error {
  readonly code: TokenErrorCode;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: TokenErrorCode, description: string, status = 400, retryAfterSeconds?: number) {
    super(description);
    this.name = 'TokenError';
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const invalidRequest = (description: string): TokenError =>
  new TokenError('invalid_request', description);
export const invalidClient = (description: string): TokenError =>
  new TokenError('invalid_client', description, 401);

/** Shared with the examples of the documentation. */
export const UNAVAILABLE = 'The service is temporarily unavailable. No token was issued; retry the request.';

export type Form = ReadonlyMap<string, string>;

function formOf(pairs: Iterable<[string, unknown]>): Form {
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, value] of pairs) {
    if (typeof value !== 'string') throw invalidRequest('The form must contain text fields only, no files.');
    // The answer does not repeat the name, which may be anything, even a secret.
    if (seen.has(name)) throw invalidRequest('A parameter must not be sent more than once.');
    seen.add(name);
    // Section 3.2: a parameter without a value counts as omitted.
    if (value !== '') form.set(name, value);
  }
  return form;
}

export function readUrlencoded(body: Buffer): Form {
  return formOf(new URLSearchParams(body.toString('utf8')));
}

export async function readMultipart(body: Buffer, contentType: string): Promise<Form> {
  const headers = { 'content-type': contentType };
  // Node's own parser; the body is at most 16 KiB and already in memory.
  const data = await new Response(new Uint8Array(body), { headers }).formData().catch(() => undefined);
  if (data === undefined) throw invalidRequest('The body is not a valid multipart form.');
  return formOf(data.entries() as Iterable<[string, unknown]>);
}

/** How a client proves its identity: with a secret, or with an assertion (a JWT) that it has signed. */
export type Proof = Credentials | { readonly clientId: string; readonly assertion: string };

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Section 2.3.1: both parts are form-urlencoded before they are joined. Ferry's own secrets need no escaping. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidClient('The Basic credentials are not form-urlencoded, as RFC 6749 section 2.3.1 requires.');
  }
}

function readBasic(authorization: string): Credentials {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) throw invalidClient('The Authorization header is not a valid Basic header.');
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw invalidClient('The Authorization header is not a valid Basic header.');
  return { clientId: decodePart(text.slice(0, colon)), clientSecret: decodePart(text.slice(colon + 1)) };
}

function readAssertion(form: Form, assertion: string): Proof {
  if (form.get('client_assertion_type') !== ASSERTION_TYPE)
    throw invalidRequest(`The client_assertion_type must be ${ASSERTION_TYPE}.`);
  let subject: unknown;
  try {
    subject = decodeJwt(assertion).sub;
  } catch {
    subject = undefined;
  }
  if (typeof subject !== 'string')
    throw invalidClient('The client_assertion must be a JWT whose sub claim is the client id.');
  return { clientId: subject, assertion };
}

function readOnlyProof(authorization: string | undefined, form: Form): Proof {
  const clientId = form.get('client_id');
  const clientSecret = form.get('client_secret');
  const assertion = form.get('client_assertion');
  const ways = [authorization, clientSecret, assertion].filter((way) => way !== undefined);
  if (ways.length > 1)
    throw invalidRequest('Authenticate with HTTP Basic, in the body or with an assertion, not with several.');
  if (authorization !== undefined) return readBasic(authorization);
  if (assertion !== undefined) return readAssertion(form, assertion);
  if (clientId === undefined || clientSecret === undefined) {
    throw invalidClient(
      'Authenticate with HTTP Basic, with client_id and client_secret in the body, or with a client_assertion.',
    );
  }
  return { clientId, clientSecret };
}

/** A request authenticates in one way, never two. A `client_id` beside it is accepted if it is the same. */
export function readProof(authorization: string | undefined, form: Form): Proof {
  const proof = readOnlyProof(authorization, form);
  const clientId = form.get('client_id');
  if (clientId !== undefined && clientId !== proof.clientId)
    throw invalidRequest('The client_id in the body differs from the one that the request authenticates.');
  return proof;
}
