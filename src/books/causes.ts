/** Why value moved: the record that an entry belongs to. */
export type Cause = {
  /** UNKNOWN: no such record. The audit reports that. */
  readonly type: 'TRANSFER' | 'SETTLEMENT' | 'JOURNAL_ENTRY' | 'SUSPENSE_DEPOSIT' | 'CONVERSION' | 'UNKNOWN';
  readonly id: string;
  /** The type of the transfer, or the kind of the journal entry. */
  readonly kind?: string;
  /** Of the transfer, as its owner chose it. */
  readonly refId?: string;
  /** What the journal entry tells the customers concerned. */
  readonly note?: string;
};

/** Where causes are looked up. */
export type CauseSources = {
  readonly transfers: {
    causes(ids: readonly string[]): Promise<
      readonly {
        readonly causeId: string;
        readonly id: string;
        readonly profileId: string;
        readonly type: string;
        readonly refId: string | null;
      }[]
    >;
  };
  readonly settlement: { among(ids: readonly string[]): Promise<readonly string[]> };
  readonly journal: {
    causes(
      ids: readonly string[],
    ): Promise<readonly { readonly id: string; readonly kind: string; readonly note: string | null }[]>;
  };
  readonly deposits: { suspenseAmong(ids: readonly string[]): Promise<readonly string[]> };
  readonly conversions: { among(ids: readonly string[]): Promise<readonly string[]> };
};

/** The causes of entries of that profile; without a profile, of an account of the service. */
export type CauseOf = (causeId: string, profileId?: string) => Cause;

const sideKey = (causeId: string, profileId: string): string => `${causeId}/${profileId}`;

/** Five lookups for any number of causes; most pages need the first one only. */
export async function findCauses(sources: CauseSources, ids: readonly string[]): Promise<CauseOf> {
  const causes = new Map<string, Cause>();
  const add = (key: string, cause: Cause): void => void (causes.has(key) || causes.set(key, cause));
  for (const { causeId, id, profileId, type, refId } of await sources.transfers.causes([...new Set(ids)])) {
    const cause: Cause = { type: 'TRANSFER', id, kind: type, ...(refId !== null && { refId }) };
    add(sideKey(causeId, profileId), cause);
    add(causeId, cause);
  }
  const rest = (): string[] => [...new Set(ids)].filter((id) => !causes.has(id));
  if (rest().length > 0)
    for (const id of await sources.settlement.among(rest())) add(id, { type: 'SETTLEMENT', id });
  if (rest().length > 0) {
    for (const { id, kind, note } of await sources.journal.causes(rest()))
      add(id, { type: 'JOURNAL_ENTRY', id, kind, ...(note !== null && { note }) });
  }
  if (rest().length > 0)
    for (const id of await sources.deposits.suspenseAmong(rest())) add(id, { type: 'SUSPENSE_DEPOSIT', id });
  if (rest().length > 0)
    for (const id of await sources.conversions.among(rest())) add(id, { type: 'CONVERSION', id });
  return (causeId, profileId) => {
    const own = profileId === undefined ? undefined : causes.get(sideKey(causeId, profileId));
    if (own !== undefined) return own;
    const cause = causes.get(causeId) ?? { type: 'UNKNOWN', id: causeId };
    // The side of another profile has the ref_id of its owner.
    return profileId !== undefined && cause.type === 'TRANSFER' ? { type: 'TRANSFER', id: causeId } : cause;
  };
}

export function presentCause({ type, id, kind, refId, note }: Cause) {
  return {
    type,
    id,
    ...(kind !== undefined && { kind }),
    ...(refId !== undefined && { ref_id: refId }),
    ...(note !== undefined && { note }),
  };
}
