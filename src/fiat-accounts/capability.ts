import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import type { FiatKind } from '../networks/fiat.ts';
import { reviewBacklog } from './backlog-store.ts';
import { FIAT_ACCOUNT_EVENTS } from './event-types.ts';
import { erasedAccount, erasedFields } from './fiat-account.ts';
import { FIAT_ACCOUNT_PROBLEMS } from './problem-examples.ts';
import { type FiatAccountDependencies, fiatAccountRoutes } from './routes.ts';
import { deletedFiatAccounts, kindOfFiatAccount, olderFiatAccounts } from './store.ts';

export type FiatAccounts = Capability & {
  /** Of an account of any customer, deleted or not. */
  kindOf(id: string): Promise<FiatKind | undefined>;
};

/** Bank accounts that withdrawals are paid to: registration and review. */
export function createFiatAccounts(dependencies: FiatAccountDependencies): FiatAccounts {
  return {
    name: 'fiat accounts',
    routes: fiatAccountRoutes(dependencies),
    tags: {
      'Fiat accounts':
        'Bank accounts that money can be sent to. Account numbers are masked in every answer to their owner.',
      ...OPERATOR_TAG,
    },
    problemExamples: FIAT_ACCOUNT_PROBLEMS,
    eventTypes: [{ ...FIAT_ACCOUNT_EVENTS, resource: 'FiatAccount' }],
    backlogs: [reviewBacklog(dependencies.database)],
    olderRows: [
      olderFiatAccounts(dependencies.database),
      deletedFiatAccounts(dependencies.database, (account) => {
        const left = erasedAccount(account, dependencies.networks);
        const erasure = { resourceId: account.id, fields: erasedFields(left) };
        return { account: { ...account, ...left }, erasure };
      }),
    ],
    kindOf: (id) => kindOfFiatAccount(dependencies.database, id),
  };
}
