import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import type { Clock } from '../kernel/clock.ts';
import { repeat } from '../kernel/repeat.ts';
import { LIMITS } from '../limits.ts';
import { createAttempts } from './attempts.ts';
import { type Authenticate, createAuthenticate, type Recall } from './authenticate.ts';
import { createClientDirectory } from './clients.ts';
import { createExternalVerify, type ExternalIssuer } from './external-issuer.ts';
import { createKeyring, rotateSigningKey } from './keys.ts';
import { registerElsewhere, registerMetadata } from './metadata.ts';
import { createSecretChecker } from './secrets.ts';
import { registerTokenEndpoint } from './token-endpoint.ts';
import { createOwnVerify } from './verify.ts';

export type AuthTiming = {
  readonly pollMs: number;
  readonly staleMs: number;
  readonly keyReloadIntervalMs: number;
};

export type AuthOptions = {
  readonly database: Database;
  /** The database's clock: on all nodes, tokens are issued and expire by it. */
  readonly clock: Clock;
  /** Issuer and audience of tokens, the same on all nodes. */
  readonly publicUrl: () => string;
  /** Whether the operations that simulate exist; not in production. */
  readonly simulates?: boolean;
  /** Whether there is a page at /docs. */
  readonly hasDocs?: boolean;
  readonly externalIssuer?: ExternalIssuer | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly timing?: Partial<AuthTiming>;
};

export type Auth = {
  readonly authenticate: Authenticate;
  readonly recall: Recall;
  /** Registers the token endpoint and its metadata. */
  extension(app: FastifyInstance): Promise<void>;
  /** Creates the first key if there is none, and starts to poll for new keys and disabled clients. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** On this node the new key signs once this resolves, on the others within seconds. */
  rotateKey(options?: { distrustOld?: boolean }): Promise<string>;
};

export function createAuth({
  database,
  clock,
  publicUrl,
  externalIssuer,
  log,
  timing = {},
  simulates = true,
  hasDocs = true,
}: AuthOptions): Auth {
  const {
    pollMs = LIMITS.authPollMs,
    staleMs = LIMITS.authStaleMs,
    keyReloadIntervalMs = LIMITS.keyReloadIntervalMs,
  } = timing;
  const keyring = createKeyring(database, { staleMs, reloadIntervalMs: keyReloadIntervalMs });
  const clients = createClientDirectory(database, staleMs);
  const verify =
    externalIssuer === undefined
      ? createOwnVerify(keyring, clients, clock, publicUrl)
      : createExternalVerify(database, clock, externalIssuer);
  const checker = createSecretChecker();
  const attempts = createAttempts();

  let isFailing = false;
  const poll = repeat(
    pollMs,
    async () => {
      await Promise.all([keyring.reload(), clients.refresh()]);
      if (isFailing) log.info('signing keys and clients are refreshed again');
      isFailing = false;
      return 'wait';
    },
    (error) => {
      // Logged once. Requests find the cache stale, query for themselves, and get a 503 if that fails too.
      if (!isFailing) log.warn({ err: error }, 'could not refresh signing keys and clients');
      // The outage log reports when the database is unavailable, and when it is available again.
      isFailing = failureOf(error) !== 'unavailable';
    },
  );

  return {
    ...createAuthenticate(verify, keyring, clients, clock),
    async extension(app) {
      if (externalIssuer !== undefined) {
        registerElsewhere(app, externalIssuer.issuer);
        return;
      }
      registerMetadata(app, keyring, publicUrl, { simulates, hasDocs });
      await registerTokenEndpoint(app, { database, clock, keyring, checker, attempts, publicUrl });
    },
    async start() {
      // The keys of an external issuer are fetched when its first token arrives.
      if (externalIssuer !== undefined) return;
      await keyring.signingKey();
      poll.start();
    },
    stop: () => poll.stop(),
    async rotateKey(options) {
      const kid = await rotateSigningKey(database, options);
      await keyring.reload();
      return kid;
    },
  };
}
