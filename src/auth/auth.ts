import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import type { Clock } from '../kernel/clock.ts';
import { createPatience, type Patience } from '../kernel/patience.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import { createSourceOf, type SourceOf } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import type { Vault } from '../sealing/vault.ts';
import { createCheckAssertion } from './assertions.ts';
import { type Authenticate, createAuthenticate, type Recall } from './authenticate.ts';
import { createClientLookup } from './client-lookup.ts';
import { createClientDirectory } from './clients.ts';
import { deleteExpired } from './credential-store.ts';
import { createExternalVerify, type ExternalIssuer } from './external-issuer.ts';
import { createFailures } from './failures.ts';
import { createKeyring, rotateSigningKey } from './keys.ts';
import { audiencesOf, registerElsewhere, registerMetadata } from './metadata.ts';
import { registerOauthEndpoints } from './oauth-endpoints.ts';
import { createRevokeToken, type RevokeToken } from './revocation.ts';
import { createScryptChecker } from './scrypt-secrets.ts';
import { createHashSecret } from './secrets.ts';
import { createTakeToken } from './token-rate.ts';
import { createOwnVerify, createReadOwnToken } from './verify.ts';

export type AuthTiming = {
  readonly pollMs: number;
  readonly staleMs: number;
  readonly keyReloadIntervalMs: number;
};

export type AuthOptions = {
  readonly database: Database;
  /** Its key is that of the hashes of client secrets. */
  readonly vault: Vault;
  /** Unless given, no proxy is trusted. */
  readonly sourceOf?: SourceOf;
  /** The database's clock: on all nodes, tokens are issued and expire by it. */
  readonly clock: Clock;
  /** Issuer and audience of tokens, the same on all nodes. */
  readonly publicUrl: () => string;
  /** Shared with the operations. */
  readonly patience?: Patience;
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
  /** Revokes an access token of this service; does nothing for one that is not valid anyway. */
  readonly revokeToken: RevokeToken;
  /** Registers the token endpoint and its metadata. */
  extension(app: FastifyInstance): Promise<void>;
  /** Creates the first key if there is none, and starts to poll for new keys and disabled clients. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** On this node the new key signs once this resolves, on the others within seconds. */
  rotateKey(options?: { distrustOld?: boolean }): Promise<string>;
};

/** Runs until it is stopped. A failure is logged once, and once more when it has passed. */
function polling(
  { intervalMs, what, log }: { intervalMs: number; what: string; log: AuthOptions['log'] },
  work: () => Promise<'again' | 'wait'>,
): Repeated {
  let isFailing = false;
  return repeat(
    intervalMs,
    async () => {
      const next = await work();
      if (isFailing) log.info(`${what}: works again`);
      isFailing = false;
      return next;
    },
    (error) => {
      if (!isFailing) log.warn({ err: error }, `${what}: failed`);
      // The outage log reports when the database is unavailable, and when it is available again.
      isFailing = failureOf(error) !== 'unavailable';
    },
  );
}

export function createAuth(options: AuthOptions): Auth {
  const { database, vault, clock, publicUrl, externalIssuer, log, timing = {}, simulates = true } = options;
  const { sourceOf = createSourceOf(), hasDocs = true, patience = createPatience() } = options;
  const {
    pollMs = LIMITS.authPollMs,
    staleMs = LIMITS.authStaleMs,
    keyReloadIntervalMs = LIMITS.keyReloadIntervalMs,
  } = timing;
  const keyring = createKeyring(database, { staleMs, reloadIntervalMs: keyReloadIntervalMs });
  const clients = createClientDirectory(database, staleMs);
  const readOwnToken = createReadOwnToken(keyring, clock, publicUrl);
  const isOwn = externalIssuer === undefined;
  const verify = isOwn
    ? createOwnVerify(readOwnToken, clients)
    : createExternalVerify(database, clients, clock, externalIssuer);

  // While it fails, requests find the cache stale, query for themselves, and get a 503 if that fails too.
  const poll = polling({ intervalMs: pollMs, what: 'refreshing signing keys and clients', log }, async () => {
    await Promise.all([isOwn ? keyring.reload() : undefined, clients.refresh()]);
    return 'wait';
  });
  const cleaning = polling(
    { intervalMs: LIMITS.authCleanUpMs, what: 'deleting expired assertions and revoked tokens', log },
    async () => ((await deleteExpired(database, LIMITS.authCleanUpRowsMax)) ? 'again' : 'wait'),
  );

  return {
    ...createAuthenticate(verify, keyring, clients, clock, sourceOf),
    revokeToken: createRevokeToken({ database, clients, readOwnToken }),
    async extension(app) {
      if (externalIssuer !== undefined) {
        registerElsewhere(app, externalIssuer.issuer);
        return;
      }
      registerMetadata(app, keyring, publicUrl, { simulates, hasDocs });
      await registerOauthEndpoints(app, {
        database,
        clock,
        keyring,
        clients,
        publicUrl,
        readOwnToken,
        sourceOf,
        lookup: createClientLookup(database),
        hashSecret: createHashSecret(vault),
        scrypt: createScryptChecker(),
        checkAssertion: createCheckAssertion(database, clock, () => audiencesOf(publicUrl())),
        failures: createFailures(),
        patience,
        takeToken: createTakeToken(),
      });
    },
    async start() {
      // The keys of an external issuer are fetched when its first token arrives.
      if (isOwn) await keyring.signingKey();
      poll.start();
      if (isOwn) cleaning.start();
    },
    async stop() {
      await Promise.all([poll.stop(), cleaning.stop()]);
    },
    async rotateKey(how) {
      const kid = await rotateSigningKey(database, how);
      await keyring.reload();
      return kid;
    },
  };
}
