import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { evaluate, type Meter, meterKey, velocityRules } from './evaluate.ts';
import { firstWait } from './holds.ts';
import { appliesTo, type Document, type Policy } from './policy.ts';
import type { Use } from './store.ts';

/** What a policy would have done with the withdrawals of the last days. Pure. */

/** A policy that is in force nowhere. */
export const draftOf = (document: Document, customerId: string | null): Policy => ({
  id: '00000000-0000-7000-8000-000000000000',
  customerId,
  name: 'draft',
  version: 1,
  enabled: true,
  document,
  changedBy: '',
  reason: '',
  createdAtNs: 0n,
  updatedAtNs: 0n,
});

type Item = {
  readonly transfer_id: string;
  readonly outcome: 'HELD' | 'REFUSED';
  readonly rule: string;
  readonly detail: string;
  readonly created_at: string;
};

/** A sliding window over what passed. */
function createWindows() {
  const windows = new Map<string, { readonly passed: Use[]; first: number; sum: bigint }>();
  const windowOf = (meter: Meter) => {
    const key = meterKey(meter);
    const known = windows.get(key) ?? { passed: [], first: 0, sum: 0n };
    windows.set(key, known);
    return known;
  };
  return {
    used(meter: Meter, now: Instant): bigint {
      const window = windowOf(meter);
      const since = now - BigInt(meter.windowNs);
      while (window.first < window.passed.length && window.passed[window.first]!.atNs <= since)
        window.sum -= window.passed[window.first++]!.units;
      return window.sum;
    },
    add(meter: Meter, use: Use): void {
      const window = windowOf(meter);
      window.passed.push(use);
      window.sum += use.units;
    },
  };
}

export function dryRun(
  policy: Policy,
  /** Oldest first. */
  uses: readonly Use[],
  /** When each destination was listed, or first used as far as is known. */
  destinations: (use: Use) => { readonly listed: boolean; readonly createdAtNs: Instant } | undefined,
  assets: Assets,
) {
  const windows = createWindows();
  const firstUse = new Map<string, Instant>();
  const items: Item[] = [];
  const counts = { examined: 0, passed: 0, held: 0, refused: 0 };
  for (const use of uses) {
    const place = `${use.customerId}/${use.destination}`;
    const known = destinations(use);
    const since = known?.createdAtNs ?? firstUse.get(place) ?? use.atNs;
    if (!firstUse.has(place)) firstUse.set(place, use.atNs);
    if (!appliesTo(policy, use) || assets.find(use.asset) === undefined) continue;
    counts.examined += 1;
    const facts = {
      now: use.atNs,
      used: (meter: Meter) => windows.used(meter, use.atNs),
      destination: { listed: known?.listed ?? false, createdAtNs: since },
    };
    const found = evaluate([policy], use, facts, assets);
    const shown = { transfer_id: use.transferId, created_at: formatInstant(use.atNs) };
    if (found.refusal !== undefined) {
      counts.refused += 1;
      items.push({ ...shown, outcome: 'REFUSED', rule: found.rule, detail: found.refusal.message });
      continue;
    }
    for (const { meter } of velocityRules([policy], use)) windows.add(meter, use);
    const wait = firstWait(found.holds, use.atNs);
    if (wait === undefined) counts.passed += 1;
    else {
      counts.held += 1;
      const rule = found.holds.find(({ kind }) => kind === wait.kind)!.rule;
      items.push({ ...shown, outcome: 'HELD', rule, detail: wait.words.detail });
    }
  }
  return { ...counts, withdrawals: items.reverse().slice(0, LIMITS.policyDryRunItemsMax) };
}
