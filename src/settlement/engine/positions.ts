import { UNITS_MAX } from '../../kernel/amount.ts';

/** The arithmetic of netting: what each balance has, by number, and what each transaction does to it. */
export type Positions = bigint[];
export type Member = {
  /** Its place in age: 0 is the oldest. */
  readonly rank: number;
  readonly effects: readonly { readonly account: number; readonly units: bigint }[];
};
export type Account = { readonly key: string; readonly takers: Member[] };

/** Whether the transaction can settle by itself: it finds what it takes, and there is room for what it brings. */
export function covered(positions: Positions, { effects }: Member): boolean {
  return effects.every(({ account, units }) => {
    const left = positions[account]! + units;
    return left >= 0n && left <= UNITS_MAX;
  });
}

export function post(positions: Positions, { effects }: Member, times: 1n | -1n): void {
  for (const { account, units } of effects) positions[account] = positions[account]! + units * times;
}

/** The positions once all members have settled; the ones given stay as they are. */
export function after(positions: Positions, members: Iterable<Member>): Positions {
  const net = [...positions];
  for (const member of members) post(net, member, 1n);
  return net;
}

/** Accounts of the member that are short, in its own order. */
export function shortOf(net: Positions, { effects }: Member): number[] {
  return effects.flatMap(({ account }) => (net[account]! < 0n ? [account] : []));
}

/** All net positions that the members touch are covered. */
export function nets(positions: Positions, members: readonly Member[]): boolean {
  const net = after(positions, members);
  return members.every(({ effects }) =>
    effects.every(({ account }) => net[account]! >= 0n && net[account]! <= UNITS_MAX),
  );
}
