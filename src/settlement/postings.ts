import type { Posting } from '../ledger/command.ts';
import type { Leg, Settlement } from './transaction.ts';

/** The posting of one leg. */
export function legPosting(
  { sourceProfileId, targetProfileId }: Pick<Settlement, 'sourceProfileId' | 'targetProfileId'>,
  { direction, asset, units }: Leg,
): Posting {
  const source = { profileId: sourceProfileId, account: 'available' } as const;
  const target = { profileId: targetProfileId, account: 'available' } as const;
  const [from, to] = direction === 'DELIVER' ? [source, target] : [target, source];
  return { asset, units, from, to };
}
