import type { Config } from '../config/config.ts';
import { LIMITS } from '../limits.ts';
import { CommandError, type Invocation } from './command-line.ts';

/**
 * Commands that move value call the running service with the credentials of a client, like everybody else: the service checks
 * the scope, records the client as the actor, and books through the write path of its node.
 */
export const SERVICE_OPTIONS = {
  url: { value: 'url', help: 'base URL of the service, if it is not FERRY_PUBLIC_URL' },
} as const;

export const CREDENTIALS_HELP =
  'Calls the running service as the client FERRY_CLIENT_ID with FERRY_CLIENT_SECRET, or with FERRY_ACCESS_TOKEN.';

function baseUrl({ config, options }: Invocation): string {
  const { url } = options;
  if (typeof url !== 'string') return config.publicUrl ?? `http://${config.host}:${config.port}`;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new CommandError(`--url must start with http:// or https://, not "${url}".`);
  return url.replace(/\/+$/, '');
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(LIMITS.commandCallMs) });
  } catch (error) {
    const { cause, message } = error as Error & { cause?: Error };
    throw new CommandError(
      `${url} does not answer (${cause?.message || message}). Repeat the command with the same --ref-id: nothing is booked twice.`,
    );
  }
}

async function tokenOf({ accessToken, clientId, clientSecret }: Config, base: string): Promise<string> {
  if (accessToken !== undefined) return accessToken;
  if (clientId === undefined || clientSecret === undefined) {
    throw new CommandError('Set FERRY_CLIENT_ID and FERRY_CLIENT_SECRET to the credentials of an operator.');
  }
  const response = await send(`${base}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const answer = (await response.json()) as { access_token?: string; error_description?: string };
  if (answer.access_token === undefined) {
    throw new CommandError(
      `${base} refused the client ${clientId}: ${answer.error_description ?? response.status}`,
    );
  }
  return answer.access_token;
}

/** Throws the detail of a problem. */
export async function callService(
  invocation: Invocation,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const base = baseUrl(invocation);
  const token = await tokenOf(invocation.config, base);
  const response = await send(base + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>;
  if (response.ok) return answer;
  const detail = typeof answer.detail === 'string' ? answer.detail : response.statusText;
  throw new CommandError(`Refused (${response.status}): ${detail}`);
}
