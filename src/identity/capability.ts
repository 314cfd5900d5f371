import type { Capability } from '../kernel/capability.ts';
import { MEMBER_EVENTS } from './event-types.ts';
import { IDENTITY_PROBLEMS } from './problem-examples.ts';
import { type IdentityDependencies, identityRoutes } from './routes.ts';
import { olderIdentities } from './store.ts';

/** Identities, their accounts, and the members of accounts. */
export function createIdentities(dependencies: IdentityDependencies): Capability {
  return {
    name: 'identities',
    routes: identityRoutes(dependencies),
    tags: {
      Identities: 'People and institutions that you act for.',
      Accounts: 'Accounts of identities, and their members.',
    },
    problemExamples: IDENTITY_PROBLEMS,
    eventTypes: [{ ...MEMBER_EVENTS, resource: 'AccountMember' }],
    olderRows: [olderIdentities(dependencies.database)],
  };
}
