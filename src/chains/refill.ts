import { workerActor } from '../kernel/actor.ts';
import { type Command, type Posting, read, type SystemAccountName, write } from '../ledger/command.ts';
import { type Refill, refills } from './refill-store.ts';

function postingsOf({ network, asset, units, feeAsset, feeUnits }: Refill): Posting[] {
  const rail = network.toLowerCase();
  const cold: SystemAccountName = `cold:${rail}`;
  const paid: Posting = { asset, units, from: { account: `clearing:${rail}` }, to: { account: cold } };
  const fee: Posting = {
    asset: feeAsset,
    units: feeUnits,
    from: { account: `network-fees:${rail}` },
    to: { account: cold },
  };
  return feeUnits > 0n ? [paid, fee] : [paid];
}

/** Books what the cold wallet has paid to the hot one, and to the network for that: once. */
export function bookRefill(id: string): Command<'booked' | 'known'> {
  return {
    actor: workerActor('chain:refills'),
    balances: [],
    reads: [read(refills, id)],
    decide(view) {
      const refill = view.row(refills, id);
      if (refill === undefined || refill.booked)
        return { accepted: true, causeId: id, postings: [], writes: [], answer: 'known' };
      return {
        accepted: true,
        causeId: id,
        postings: postingsOf(refill),
        writes: [write(refills, id, { ...refill, booked: true, updatedAtNs: view.recordedAt })],
        answer: 'booked',
      };
    },
  };
}
