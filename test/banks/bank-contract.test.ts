import { afterAll, beforeAll } from 'vitest';
import { plainId } from '../../src/banks/ids.ts';
import type { Payment, Rail } from '../../src/rails/rail.ts';
import { describeRail } from '../rails/contract.ts';
import { changed, request } from '../support/fiat-accounts.ts';
import { never } from '../support/payouts.ts';
import { type BankWorld, createBankWorld, paymentFor } from './bank-world.ts';

let world: BankWorld;
const requests = new Map<string, number>();
beforeAll(async () => {
  world = await createBankWorld();
});
afterAll(() => world.remove());

const isKind = ({ memo }: Payment, kind: string): boolean => memo === kind;

/** The rail, with a line between the service and it that loses requests or answers. */
function rail(): Rail {
  return {
    ...world.rail,
    async submit(requested, signal) {
      if (isKind(requested, 'lost')) signal.throwIfAborted();
      requests.set(requested.key, (requests.get(requested.key) ?? 0) + 1);
      const result = await world.rail.submit(requested, world.signal);
      return isKind(requested, 'unanswered') ? never : result;
    },
  };
}

function payment(kind: 'good' | 'refused' | 'unanswered' | 'lost', key: string): Payment {
  const { fiat_network_instructions: instructions, fiat_account_owner: owner } =
    kind === 'refused'
      ? changed('/fiat_network_instructions/wire/fiat_account_owner_address/city', '')
      : request;
  return paymentFor(key, '10', { memo: kind, destination: { instructions, owner } });
}

describeRail('wire', {
  rail,
  payment,
  async record(key) {
    const { payments } = await world.bank.record();
    const paid = payments.filter(({ endToEndId }) => endToEndId === plainId(key));
    return { requests: requests.get(key) ?? 0, payments: paid.length };
  },
  async pass(milliseconds) {
    world.pass(milliseconds);
    await world.settle(2);
  },
});
