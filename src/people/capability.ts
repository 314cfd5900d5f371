import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Declare } from '../approvals/action.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { RevokeToken } from '../auth/revocation.ts';
import type { Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import type { Capability } from '../kernel/capability.ts';
import type { Clock } from '../kernel/clock.ts';
import { repeat } from '../kernel/repeat.ts';
import type { SourceOf } from '../kernel/source-address.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import { declarePeopleActions } from './actions.ts';
import { type Callers, createCallers } from './callers.ts';
import { createChallenges } from './challenges.ts';
import { signInExtension } from './endpoints.ts';
import { createOpenId, type OpenIdProvider } from './openid.ts';
import { createPasskeys } from './passkeys.ts';
import { placeOf } from './place.ts';
import { PEOPLE_PROBLEMS } from './problem-examples.ts';
import { peopleRoutes } from './routes.ts';
import { deleteExpired } from './session-store.ts';

export type PeopleOptions = {
  readonly database: Database;
  readonly declare: Declare;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly sourceOf: SourceOf;
  readonly publicUrl: () => string;
  /** Of clients, which can be used in a browser as well. */
  readonly authenticate: Authenticate;
  readonly revokeToken: RevokeToken;
  readonly isSandbox: boolean;
  readonly openIdProvider: OpenIdProvider | undefined;
  readonly log: Pick<Logger, 'warn'>;
};

export type People = Capability &
  Pick<Callers, 'signedIn'> & {
    readonly sessionCookie: () => string;
    /** Registers the pages under /signin, and what they call. */
    extension(app: FastifyInstance): Promise<void>;
  };

function cleaning({ database, log }: PeopleOptions): Worker {
  const work = repeat(
    LIMITS.peopleCleanUpMs,
    async () => ((await deleteExpired(database, LIMITS.peopleCleanUpRowsMax)) ? 'again' : 'wait'),
    (error) => {
      // The outage log reports when the database is unavailable.
      if (failureOf(error) !== 'unavailable') log.warn({ err: error }, 'could not delete expired sessions');
    },
  );
  return { name: 'expired sessions', stage: 'background', start: () => work.start(), stop: work.stop };
}

/** People: who they are, what they may do, and how they sign in. */
export function createPeople(options: PeopleOptions): People {
  const { database, declare, vault, clock, sourceOf, isSandbox, openIdProvider } = options;
  const place = () => placeOf(options.publicUrl());
  const { authenticate } = options;
  const callers = createCallers({ database, vault, place, simulates: isSandbox, authenticate });
  return {
    name: 'people',
    routes: peopleRoutes({
      database,
      place,
      actions: declarePeopleActions({ database, declare, signInUrl: () => place().url }),
    }),
    tags: { People: 'People who sign in at /signin, their roles and sessions.' },
    problemExamples: PEOPLE_PROBLEMS,
    workers: [cleaning(options)],
    signedIn: callers.signedIn,
    sessionCookie: () => place().sessionCookie,
    extension: signInExtension({
      database,
      vault,
      place,
      callers,
      passkeys: createPasskeys(database, createChallenges(vault, clock), place),
      openId: openIdProvider && createOpenId(openIdProvider, vault, clock),
      hasDemo: isSandbox,
      revokeToken: options.revokeToken,
      sourceOf,
    }),
  };
}
