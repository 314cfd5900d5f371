import { formatInstant, type Instant } from '../../src/kernel/instant.ts';
import { finalInstant } from '../../src/ledger/finality.ts';
import type { Answer, TestCustomer, TestService } from './service.ts';
import { until } from './until.ts';

/** Waits until everything that was booked so far is final, and returns the instant up to which it is. */
export async function untilBookedIsFinal(database: TestService['database']): Promise<Instant> {
  const [row] = await database.query<{ at_ns: Instant | null }>('select max(at_ns) as at_ns from entries');
  const last = row!.at_ns ?? 0n;
  let final = 0n;
  await until('the books are final', async () => {
    final = await finalInstant(database);
    return final >= last;
  });
  return final;
}

export function statementOf(
  customer: TestCustomer,
  profileId: string,
  period: { asset?: string; from: Instant; to?: Instant },
  accept?: string,
): Promise<Answer> {
  const query = new URLSearchParams({
    asset: period.asset ?? 'USD',
    from: formatInstant(period.from),
    ...(period.to !== undefined && { to: formatInstant(period.to) }),
  });
  const path = `/v2/profiles/${profileId}/statements?${query.toString()}`;
  return customer.call('GET', path, undefined, accept === undefined ? {} : { accept });
}
