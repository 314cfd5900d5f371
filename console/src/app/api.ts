import { createFerry, FerryProblem, NoAnswer, Unavailable } from '@ferry/client';
import { hashKey, QueryClient } from '@tanstack/react-query';
import { cell } from '~/lib/emitter.ts';
import { BASE } from './base.ts';

/** `lost`: the service gives no answer, and requests are repeated. `ended`: the person has to sign in again. */
export type Connection = 'ok' | 'lost' | 'ended';
export const connection = cell<Connection>('ok');

const PASSING = new Set([502, 503, 504]);

/** Every request of the console. It sees what the shell tells the person: an ended session, a service that is away. */
async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, { ...init, credentials: 'same-origin' });
    if (response.status === 401) connection.set('ended');
    else if (PASSING.has(response.status)) connection.set('lost');
    else if (connection.get() === 'lost') connection.set('ok');
    return response;
  } catch (error) {
    if (init?.signal?.aborted !== true && connection.get() !== 'ended') connection.set('lost');
    throw error;
  }
}

/** The customer whose data a person of the operator looks at. It is part of the address, so links and reloads keep it. */
export const lookedAt = (): string | undefined =>
  new URLSearchParams(location.search).get('customer') ?? undefined;

/** The one client of the console: all calls are operations of /v2, with the cookie of the session. */
export const ferry = createFerry({
  baseUrl: location.origin + BASE,
  fetch: watchedFetch,
  headers: (): Record<string, string> => {
    const customer = lookedAt();
    return customer === undefined ? {} : { 'ferry-customer': customer };
  },
});

const PASSES = (error: unknown): boolean => error instanceof NoAnswer || error instanceof Unavailable;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The client repeats requests by itself; this goes on where it gives up.
      retry: (count, error) => PASSES(error) && count < 100,
      retryDelay: 2_000,
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // Another customer is other data.
      queryKeyHashFn: (key) => hashKey([lookedAt(), ...key]),
    },
    // Only the person decides to do something again.
    mutations: { retry: false },
  },
});

/** While the service is away, asks whether it is back, and then for everything on the screen again. */
const ASK_AGAIN_MS = 1_500;
let timer: ReturnType<typeof setInterval> | undefined;
connection.subscribe(() => {
  if (connection.get() !== 'lost') {
    clearInterval(timer);
    timer = undefined;
    if (connection.get() === 'ok') void queryClient.invalidateQueries();
    return;
  }
  timer ??= setInterval(() => {
    fetch(`${BASE}/health/ready`).then(
      (response) => {
        if (response.ok && connection.get() === 'lost') connection.set('ok');
      },
      () => undefined,
    );
  }, ASK_AGAIN_MS);
});

export const problemOf = (error: unknown): FerryProblem | undefined =>
  error instanceof FerryProblem ? error : undefined;
