import { arrivalRecords } from '../../src/deposits/arrival-store.ts';
import { journalEntries } from '../../src/journal/store.ts';
import { workerActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Command, type Posting, write } from '../../src/ledger/command.ts';

/** An opening balance from `clearing:test`, as the journal books it: the audit finds its cause. */
export function openingBalance(profileId: string, asset: string, units: bigint): Command<string> {
  const id = newId();
  const postings: Posting[] = [
    { asset, units, from: { account: 'clearing:test' }, to: { profileId, account: 'available' } },
  ];
  const value = { rail: 'test', account: 'test', asset, amountUnits: units };
  return {
    actor: workerActor('test'),
    balances: [{ profileId, asset }],
    decide: (view) => ({
      accepted: true,
      causeId: id,
      postings,
      writes: [
        write(journalEntries, id, {
          ...value,
          id,
          kind: 'OPENING_BALANCE',
          customerId: id,
          actor: 'test',
          refId: id,
          reason: 'test',
          reference: id,
          note: null,
          createdAtNs: view.recordedAt,
          output: null,
          profileIds: [profileId],
          assets: [asset],
          corrects: null,
          correctsCauseId: null,
          transferId: null,
          suspenseDepositId: null,
          outcome: null,
          postings,
          reversedBy: null,
        }),
        write(arrivalRecords, id, {
          ...value,
          transaction: id,
          output: null,
          memo: 'TEST',
          transferId: null,
          suspenseId: null,
          journalEntryId: id,
        }),
      ],
      answer: id,
    }),
  };
}
