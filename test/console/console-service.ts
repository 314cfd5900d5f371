import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCustomer } from '../../src/auth/administration.ts';
import { findCustomer } from '../../src/auth/customers.ts';
import { ROOT } from '../house/sources.ts';
import { patiently } from '../support/patiently.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Builds the console unless it is built from the present sources. Once, before the service asks for it. */
export async function builtConsole(): Promise<void> {
  const { sourceDigest } = await import(join(ROOT, 'console/source-digest.mjs'));
  const built = join(ROOT, 'console/dist/source-digest');
  if (existsSync(built) && readFileSync(built, 'utf8') === sourceDigest(join(ROOT, 'console'))) return;
  execFileSync(process.execPath, [join(ROOT, 'console/build.mjs')], { stdio: 'inherit' });
}

export type ConsoleService = {
  readonly service: TestService;
  readonly customerId: string;
  /** With 100,000 USD and 12 BTC. */
  readonly profileId: string;
};

/** A service with the customer of the demo, and one profile that has funds. */
export async function startConsoleService(env: Record<string, string> = {}): Promise<ConsoleService> {
  await builtConsole();
  const service = await startTestService(env);
  await createCustomer(service.database, { name: 'Harbour Brokerage', integration: 'FIRST_PARTY' });
  const { id: customerId } = (await findCustomer(service.database, 'Harbour Brokerage'))!;
  const profileId = await service.createProfile({ id: customerId } as never, { USD: '100000', BTC: '12' });
  return { service, customerId, profileId };
}

/** Completed transfers that were never posted, for lists of any length. The service must be stopped with `stop([])`. */
export async function insertTransfers(
  { service, customerId, profileId }: ConsoleService,
  count: number,
): Promise<void> {
  await patiently(
    service.database,
    `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                            balance_asset, balance_units, created_at_ns, updated_at_ns, ref_id)
     select gen_random_uuid(), $1, $2, 'WIRE_WITHDRAWAL', 'DEBIT', 'COMPLETED', 'USD', n, 0, 'USD', n,
            1790000000000000000 + n, 1790000000000000000 + n, 'row ' || n
     from generate_series(1, $3::integer) as n`,
    [customerId, profileId, count],
  );
}
