import { newId } from '../../src/kernel/id.ts';
import type { History } from './forgery-world.ts';

/** Statements that change the database without the service; the violation that must be found names `row`. */
export type Forgery = {
  readonly title: string;
  readonly sql: readonly string[];
  readonly rule: string;
  readonly row: string;
};

/** Replaced by the database's time. */
export const CLOCK = 'the_clock';
const noGroupId = (id: string): string => `${id.slice(0, -1)}0`;

/** Two entries, a balance and a delta: the money that no record knows. */
export function minted(profile: string, cause: string, atNs: string = CLOCK): string[] {
  return [
    `insert into balances (profile_id, asset, available, moved_at_ns) values ('${profile}', 'USD', 100000000, ${atNs})`,
    `insert into entries select '${profile}', 'USD', 'available', moved_at_ns, 0, 0, '${cause}', 100000000, 100000000
     from balances where profile_id = '${profile}'`,
    `insert into entries select '${profile}', 'USD', 'clearing:wire', moved_at_ns, 1, 0, '${cause}', -100000000, null
     from balances where profile_id = '${profile}'`,
    `insert into system_deltas (account, asset, delta) values ('clearing:wire', 'USD', -100000000)`,
  ];
}

/** The forged copy of a row, with some columns changed. */
const copy = (table: string, where: string, changes: string): string =>
  `insert into ${table} select (jsonb_populate_record(t, ${changes}::jsonb)).* from ${table} t where ${where}`;

export function forgeries(made: History): Forgery[] {
  const { ada, bob, group, debit, settlement, charged, converted, paid, failed, pending, credited } = made;
  const [cause, profile, transfer, entry] = [newId(), newId(), noGroupId(newId()), newId()];
  const of = (id: string): string => `where id = '${id}'`;
  const bothSides = `where group_id = '${group}'`;
  const all = 'cause-equals-entries';
  return [
    { title: 'four inserts make 1,000,000 USD', sql: minted(profile, cause), rule: all, row: cause },
    {
      title: 'the amount of a transfer inside the service is changed on both sides',
      sql: [`update transfers set amount_units = 701, balance_units = 701 ${bothSides}`],
      rule: all,
      row: debit,
    },
    {
      title: 'the amount of one side is changed',
      sql: [`update transfers set amount_units = 701, balance_units = 701 ${of(debit)}`],
      rule: 'transfer-sides',
      row: debit,
    },
    {
      title: 'a pair of entries is changed, and the balances with it',
      sql: [
        `update entries set delta = delta * 2, balance_after = balance_after + delta where cause_id = '${group}'`,
        `update entries e set balance_after = balance_after + case e.owner_id when '${ada}' then -700 else 700 end
         where e.owner_id in ('${ada}', '${bob}') and asset = 'USD' and account = 'available'
           and at_ns > (select max(at_ns) from entries where cause_id = '${group}')`,
        `update balances set available = available + case profile_id when '${ada}' then -700 else 700 end
         where profile_id in ('${ada}', '${bob}') and asset = 'USD'`,
      ],
      rule: all,
      row: debit,
    },
    {
      title: 'one entry is removed',
      sql: [`delete from entries where cause_id = '${group}' and delta > 0`],
      rule: 'posting-balances',
      row: group,
    },
    {
      title: 'a pair of entries is removed, and the balances with it',
      sql: [
        `delete from entries where cause_id = '${group}'`,
        `update balances set available = available + case profile_id when '${ada}' then 700 else -700 end
         where profile_id in ('${ada}', '${bob}') and asset = 'USD'`,
      ],
      rule: all,
      row: debit,
    },
    {
      title: 'a deposit has no entries',
      sql: [copy('transfers', `id = '${credited}'`, `'{"id": "${transfer}"}'`)],
      rule: all,
      row: transfer,
    },
    {
      title: 'a withdrawal is there twice',
      sql: [copy('transfers', `id = '${paid}'`, `'{"id": "${transfer}"}'`)],
      rule: all,
      row: transfer,
    },
    {
      title: 'a pending withdrawal is marked as paid',
      sql: [
        `update transfers set status = 'COMPLETED', updated_at_ns = ${CLOCK} ${of(pending)}`,
        `delete from withdrawal_work where transfer_id = '${pending}'`,
      ],
      rule: all,
      row: pending,
    },
    {
      title: 'a pending withdrawal is marked as failed',
      sql: [`update transfers set status = 'FAILED', updated_at_ns = ${CLOCK} ${of(pending)}`],
      rule: all,
      row: pending,
    },
    {
      title: 'a failed withdrawal is marked as paid',
      sql: [`update transfers set status = 'COMPLETED' ${of(failed)}`],
      rule: all,
      row: failed,
    },
    {
      title: 'the fee of a withdrawal moves into its amount',
      sql: [`update transfers set fee_units = 0, amount_units = amount_units + fee_units ${of(paid)}`],
      rule: all,
      row: paid,
    },
    {
      title: 'the total of a conversion is changed',
      sql: [`update transfers set balance_units = balance_units - 100 ${of(converted)}`],
      rule: 'transfer-total',
      row: converted,
    },
    {
      title: 'a guaranteed fee is used again',
      sql: [
        'drop index if exists transfers_fee_used_once',
        `update transfers set fee_id = '${made.fee}' ${of(converted)}`,
      ],
      rule: 'fee-used-once',
      row: converted,
    },
    {
      title: 'a guaranteed fee is said to be used by another withdrawal',
      sql: [`update guaranteed_fees set used_by = '${paid}' ${of(made.fee)}`],
      rule: 'fee-used-once',
      row: charged,
    },
    {
      title: 'the profile of a deposit is exchanged',
      sql: [`update transfers set profile_id = '${ada}' ${of(credited)}`],
      rule: all,
      row: credited,
    },
    {
      title: 'a transfer is given to another customer',
      sql: [`update transfers set customer_id = '${newId()}' ${of(paid)}`],
      rule: 'record-owner',
      row: paid,
    },
    {
      title: 'the asset of a transfer is exchanged on both sides',
      sql: [`update transfers set asset = 'EUR', balance_asset = 'EUR' ${bothSides}`],
      rule: all,
      row: debit,
    },
    {
      title: 'two balances change by the same amount in opposite directions',
      sql: [
        `update balances set available = available + case profile_id when '${ada}' then -5 else 5 end
         where profile_id in ('${ada}', '${bob}') and asset = 'USD'`,
      ],
      rule: 'balance-equals-entries',
      row: bob,
    },
    {
      title: 'two transfers change by the same amount in opposite directions',
      sql: [
        `update transfers set amount_units = amount_units + 5, balance_units = balance_units + 5 ${of(made.wired)}`,
        `update transfers set amount_units = amount_units - 5, balance_units = balance_units - 5 ${of(made.manual)}`,
      ],
      rule: all,
      row: made.wired,
    },
    {
      title: 'a journal entry has no postings',
      sql: [
        copy(
          'journal_entries',
          `id = '${made.funding}'`,
          `jsonb_build_object('id', '${entry}', 'ref_id', '${entry}')`,
        ),
      ],
      rule: 'journal-agrees',
      row: entry,
    },
    {
      title: 'a posting is added to a journal entry',
      sql: [copy('journal_postings', `journal_entry_id = '${made.funding}'`, `'{"posting": 1}'`)],
      rule: all,
      row: made.funding,
    },
    {
      title: 'the postings of a journal entry are removed, and its entries stay',
      sql: [`delete from journal_postings where journal_entry_id = '${made.correction}'`],
      rule: all,
      row: made.correction,
    },
    {
      title: 'the amount of a return is changed',
      sql: [`update journal_entries set amount_units = amount_units + 1 ${of(made.returned)}`],
      rule: 'returns-agree',
      row: paid,
    },
    {
      title: 'a settlement transaction is marked as settled',
      sql: [
        copy(
          'settlement_transactions',
          `id = '${settlement}'`,
          `jsonb_build_object('id', '${entry}', 'ref_id', '${entry}')`,
        ),
      ],
      rule: all,
      row: entry,
    },
    {
      title: 'the amount of a leg is changed',
      sql: [
        `update settlement_transactions set legs = jsonb_set(legs, '{0,units}', '"301"') ${of(settlement)}`,
      ],
      rule: all,
      row: settlement,
    },
    {
      title: 'a settled transaction is cancelled',
      sql: [`update settlement_transactions set status = 'CANCELLED' ${of(settlement)}`],
      rule: all,
      row: settlement,
    },
    {
      title: 'a deposit has no arrival',
      sql: [`delete from arrivals where transfer_id = '${made.wired}'`],
      rule: 'deposit-arrived',
      row: made.wired,
    },
    {
      title: 'an arrival has no deposit',
      sql: [
        copy(
          'arrivals',
          `transfer_id = '${made.wired}'`,
          `jsonb_build_object('id', '${entry}', 'transfer_id', '${transfer}', 'transaction', '${entry}')`,
        ),
      ],
      rule: 'arrival-agrees',
      row: entry,
    },
    {
      title: 'a suspense deposit has not arrived',
      sql: [`delete from arrivals where suspense_deposit_id = '${made.open}'`],
      rule: 'suspense-agrees',
      row: made.open,
    },
    {
      title: 'the amount of a suspense deposit is changed',
      sql: [`update suspense_deposits set amount_units = amount_units - 1 ${of(made.open)}`],
      rule: all,
      row: made.open,
    },
    {
      title: 'a suspense deposit is credited twice',
      sql: [
        'drop index suspense_deposits_of_transfers',
        `update suspense_deposits set transfer_id = '${made.suspenseCredit}' ${of(made.open)}`,
      ],
      rule: all,
      row: made.suspenseCredit,
    },
    {
      title: 'a withdrawal is paid again over another rail',
      sql: [
        copy(
          'sandbox_payments',
          `key = '${paid}'`,
          `jsonb_build_object('rail', 'cubix', 'accepted_at_ns', ${CLOCK})`,
        ),
      ],
      rule: 'payment-agrees',
      row: paid,
    },
    {
      title: 'a rail has paid another amount',
      sql: [`update sandbox_payments set amount_units = 1, accepted_at_ns = ${CLOCK} where key = '${paid}'`],
      rule: 'payment-agrees',
      row: paid,
    },
    {
      title: 'value is held without a withdrawal',
      sql: [
        `update balances set held = held + 5, available = available - 5 where profile_id = '${ada}' and asset = 'USD'`,
      ],
      rule: 'held-equals-pending',
      row: ada,
    },
    {
      title: 'a pending withdrawal is forgotten',
      sql: [`delete from withdrawal_work where transfer_id = '${pending}'`],
      rule: 'withdrawal-work',
      row: pending,
    },
    {
      title: 'a balance of the service is changed',
      sql: [`update system_balances set balance = balance + 1 where account = 'fees' and asset = 'USD'`],
      rule: 'system-balance-equals-entries',
      row: 'fees USD',
    },
    {
      title: 'a posting of a transfer is there twice',
      sql: [
        `insert into entries select owner_id, asset, account, ${CLOCK}, line, posting, cause_id, delta, balance_after
         from entries where cause_id = '${made.wired}'`,
      ],
      rule: all,
      row: made.wired,
    },
  ];
}
