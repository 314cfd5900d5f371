import { findCustomer } from '../auth/customers.ts';
import type { Database } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import { administratorOf, recordPerson } from './changes.ts';
import type { Role } from './roles.ts';
import { insertPerson, peopleByEmail } from './store.ts';

/** People of the sandbox, who are entered with one click. They exist from the first click. */
export const DEMO_PEOPLE = {
  viewer: { name: 'Vera Viewer', roles: ['VIEWER'], isOperator: false },
  maker: { name: 'Max Maker', roles: ['MAKER'], isOperator: false },
  approver: { name: 'Ada Approver', roles: ['APPROVER'], isOperator: false },
  administrator: { name: 'Ana Administrator', roles: ['ADMINISTRATOR'], isOperator: false },
  operator: { name: 'Olaf Operator', roles: ['ADMINISTRATOR', 'MAKER'], isOperator: true },
  /** The other pair of eyes. */
  controller: { name: 'Carla Controller', roles: ['APPROVER'], isOperator: true },
} as const satisfies Record<string, { name: string; roles: readonly Role[]; isOperator: boolean }>;

export type DemoName = keyof typeof DEMO_PEOPLE;
export const DEMO_NAMES = Object.keys(DEMO_PEOPLE) as DemoName[];

/** The first customer of the demo data, `src/sandbox/demo.ts`. */
const DEMO_CUSTOMER = 'Harbour Brokerage';

export async function demoPerson(database: Database, as: DemoName): Promise<string> {
  const { name, roles, isOperator } = DEMO_PEOPLE[as];
  const email = `${as}@demo.invalid`;
  const customer = isOperator ? undefined : await findCustomer(database, DEMO_CUSTOMER);
  if (!isOperator && customer === undefined)
    throw new Problem('not-found', `The demo data is not there: there is no customer ${DEMO_CUSTOMER}.`, {
      resource: 'customer',
      id: DEMO_CUSTOMER,
    });
  const customerId = customer?.id ?? null;
  // Two clicks at once: the second one finds the person of the first.
  await database.transaction(async (tx) => {
    const id = newId();
    if (await insertPerson(tx, { id, customerId, roles, name, email }))
      await recordPerson(tx, administratorOf(database), 'created', id);
  });
  const found = (await peopleByEmail(database, email)).find((one) => one.customerId === customerId);
  return found!.id;
}
