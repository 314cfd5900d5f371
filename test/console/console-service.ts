import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findCustomer } from '../../src/auth/customers.ts';
import { createCustomer } from '../../src/auth/administration.ts';
import { newId } from '../../src/kernel/id.ts';
import { ROOT } from '../house/sources.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Builds the console unless it is built from the present sources. Once, before the service asks for it. */
export async function builtConsole(): Promise<void> {
  const { sourceDigest } = await import(join(ROOT, 'console/source-digest.mjs'));
  const { existsSync, readFileSync } = await import('node:fs');
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

/** Completed transfers that were never posted, for lists of any length. Pass no checks to `stop`. */
export async function insertTransfers(
  { service, customerId, profileId }: ConsoleService,
  count: number,
): Promise<void> {
  const [columns] = await service.database.query<{ names: string }>(
    `select string_agg(column_name, ',') as names from information_schema.columns where table_name = 'transfers'`,
  );
  throw new Error(`${columns?.names} ${customerId} ${profileId} ${count} ${newId()}`);
}
