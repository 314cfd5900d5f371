import { newId } from '../../src/kernel/id.ts';
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

/** A profile that received one wire. */
export async function profileWithDeposit(service: TestService, customer: TestCustomer): Promise<string> {
  const id = await service.createProfile(customer);
  const deposit = { asset: 'USD', amount: '1250' };
  const { status } = await customer.call('POST', `/v2/sandbox/profiles/${id}/deposit`, deposit);
  if (status !== 200) throw new Error(`the deposit answered ${status}`);
  return id;
}

/** A payment and its return, which are only on a statement. */
export async function openItems(operator: TestCustomer): Promise<string[]> {
  const path = '/v2/operator/reconciliations';
  const reference = newId();
  const lines = ['CREDIT', 'DEBIT'].map((direction) => `2026-01-15,USD,${direction},5,${reference}`);
  const content = ['at,asset,direction,amount,reference', ...lines].join('\n');
  const file = { account: 'clearing:wire', format: 'CSV', statement_id: reference, content };
  const { status } = await operator.call('POST', path, file);
  if (status !== 200) throw new Error(`the import answered ${status}`);
  const open = await operator.call('GET', `${path}/unmatched?account=clearing:wire&side=STATEMENT`);
  return open.body.items.filter((one: any) => one.reference === reference).map((one: any) => one.id);
}
