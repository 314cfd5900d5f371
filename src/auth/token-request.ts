/** Reads a token request (RFC 6749 sections 2.3.1 and 4.4.2). Errors are those of section 5.2. */
export type TokenErrorCode =
  | 'invalid_request'
  | 'invalid_client'
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

export type Credentials = { readonly clientId: string; readonly clientSecret: string };

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

/** A request authenticates in one way, never two. A `client_id` next to a Basic header is accepted if it is the same. */
export function readCredentials(authorization: string | undefined, form: Form): Credentials {
  const clientId = form.get('client_id');
  const clientSecret = form.get('client_secret');
  if (authorization === undefined) {
    if (clientId === undefined || clientSecret === undefined) {
      throw invalidClient('Authenticate with HTTP Basic, or with client_id and client_secret in the body.');
    }
    return { clientId, clientSecret };
  }
  if (clientSecret !== undefined) {
    throw invalidRequest('Authenticate with HTTP Basic or in the body, not both.');
  }
  const credentials = readBasic(authorization);
  if (clientId !== undefined && clientId !== credentials.clientId) {
    throw invalidRequest('The client_id in the body differs from the one in the Authorization header.');
  }
  return credentials;
}
