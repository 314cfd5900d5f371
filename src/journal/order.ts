import { readArrived } from '../deposits/identity.ts';
import type { FeeSchedule } from '../fees/schedule.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import { Problem } from '../kernel/problem.ts';
import type { AccountRef, SystemAccountName } from '../ledger/command.ts';
import type { Networks, RailName } from '../networks/register.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import type { Resolution } from '../withdrawals/by-operator.ts';
import type { Corrects } from './entry.ts';
import { type BookedKind, type Field, factsOf } from './kinds.ts';
import type { JournalBody } from './schema.ts';

/** Money that came from outside, and how much. */
type Arrived = { readonly asset: string; readonly units: bigint; readonly arrived: ArrivedDeposit };
type Value = { readonly asset: string; readonly units: bigint };

/** What an operator wants to book, validated by itself: a value that does not depend on the state of the ledger. */
export type Order =
  | ({ readonly kind: 'OPENING_BALANCE'; readonly profileId: string } & Arrived)
  | ({ readonly kind: 'MANUAL_DEPOSIT'; readonly profileId: string } & Arrived)
  | ({ readonly kind: 'TREASURY_FUNDING' } & Arrived)
  | ({ readonly kind: 'TREASURY_PAYOUT'; readonly rail: RailName; readonly account: string | null } & Value)
  | {
      readonly kind: 'SWEEP';
      readonly source: 'fees' | 'conversion';
      readonly asset: string;
      /** Undefined: all. */
      readonly units: bigint | undefined;
    }
  | ({ readonly kind: 'WRITE_OFF' } & Value & ({ readonly profileId: string } | { readonly rail: RailName }))
  | { readonly kind: 'SUSPENSE_CREDIT'; readonly suspenseId: string; readonly profileId: string }
  | { readonly kind: 'SUSPENSE_RETURN'; readonly suspenseId: string; readonly account: string | null }
  | ({
      readonly kind: 'WITHDRAWAL_RETURN';
      readonly transferId: string;
      readonly account: string;
      readonly output: number | null;
    } & Value)
  | ({
      readonly kind: 'CORRECTION';
      readonly corrects: Corrects;
      readonly from: AccountRef;
      readonly to: AccountRef;
    } & Value)
  | { readonly kind: 'REVERSAL'; readonly corrects: Corrects }
  | {
      readonly kind: 'WITHDRAWAL_RESOLUTION';
      readonly transferId: string;
      readonly outcome: Resolution;
    }
  | { readonly kind: 'WITHDRAWAL_CANCELLATION'; readonly transferId: string };

export type OrderOf<Kind extends Order['kind']> = Extract<Order, { kind: Kind }>;

export type OrderRules = {
  readonly assets: Assets;
  readonly networks: Networks;
  readonly schedule: FeeSchedule;
};

type Body = JournalBody;

/** Each kind has its own fields; others are an error, because a field that is ignored would be a surprise. */
function checkFields(fields: Fields, body: Body): void {
  const { required, optional = [], oneOf = [] } = factsOf(body.kind);
  const known: readonly Field[] = [...required, ...optional, ...oneOf];
  const given = Object.keys(body).filter((name) => (body as Record<string, unknown>)[name] !== undefined);
  const always = ['kind', 'ref_id', 'reason', 'reference', 'note'];
  for (const name of given) {
    if (!always.includes(name) && !known.includes(name as Field))
      fields.fault(`/${name}`, `must be absent for the kind ${body.kind}`);
  }
  for (const name of required) {
    if (body[name] === undefined) fields.fault(`/${name}`, `is required for the kind ${body.kind}`);
  }
  if (oneOf.length > 0 && oneOf.filter((name) => body[name] !== undefined).length !== 1) {
    for (const name of oneOf) fields.fault(`/${name}`, `exactly one of ${oneOf.join(' and ')} is required`);
  }
}

function readSide(fields: Fields, name: 'from' | 'to', side: Body['from']): AccountRef | undefined {
  if (side === undefined) return undefined;
  const { profile_id: profileId, account } = side;
  if ((profileId === undefined) === (account === undefined)) {
    fields.fault(`/${name}`, 'must have exactly one of profile_id and account');
    return undefined;
  }
  return profileId === undefined
    ? { account: account as SystemAccountName }
    : { profileId, account: 'available' };
}

function readCorrects(fields: Fields, corrects: Body['corrects']): Corrects | undefined {
  if (corrects === undefined) return undefined;
  const { type, id, leg_id: legId = null } = corrects;
  if (legId !== null && type !== 'SETTLEMENT') {
    fields.fault('/corrects/leg_id', 'is only for a settlement transaction');
  }
  return { type, id, legId };
}

/** The names of the fields here, for those of a deposit as rails report it. */
const POINTERS: Readonly<Record<string, string>> = { '/tx_hash': '/reference', '/address': '/account' };

/** Money from outside as the rail would report it, in canonical form. */
export function readMoney(
  fields: Fields,
  rules: OrderRules,
  rail: RailName,
  { asset, units }: Value,
  where: { readonly account: string; readonly reference: string; readonly output: number | null },
): ArrivedDeposit | undefined {
  const { networks, schedule } = rules;
  const { account, reference, output } = where;
  if (schedule.deposit(rail, asset) === undefined) {
    fields.fault('/rail', `${asset} is not configured for the ${rail} rail`);
  }
  if (!networks.isCryptoNetwork(rail) && output !== null) {
    fields.fault('/output', 'must be absent: only transactions on a chain have outputs');
  }
  const value = { asset, amountUnits: units };
  try {
    return networks.isCryptoNetwork(rail)
      ? readArrived({ rail, ...value, txHash: reference, address: account, output }, networks, true)
      : readArrived({ rail, ...value, reference, account, memoId: '' }, networks, true);
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== 'invalid-request') throw error;
    const { errors } = error.meta as { errors: readonly { pointer: string; message: string }[] };
    for (const { pointer, message } of errors) fields.fault(POINTERS[pointer] ?? pointer, message);
    return undefined;
  }
}

/** The value of the order, if its kind has one and it is valid. */
function readValue(fields: Fields, body: Body): { asset?: string | undefined; units?: bigint | undefined } {
  if (body.asset === undefined) return {};
  const asset = fields.asset('/asset', body.asset);
  return {
    asset,
    units: body.amount === undefined ? undefined : fields.amount('/amount', body.amount, asset),
  };
}

const ARRIVING: readonly BookedKind[] = ['OPENING_BALANCE', 'MANUAL_DEPOSIT', 'TREASURY_FUNDING'];

/** Validates what depends only on the request, and throws a problem with all errors. */
export function readOrder(body: Body, rules: OrderRules): Order {
  const fields = createFields(rules.assets);
  checkFields(fields, body);
  const { asset, units } = readValue(fields, body);
  const [from, to] = [readSide(fields, 'from', body.from), readSide(fields, 'to', body.to)];
  const corrects = readCorrects(fields, body.corrects);
  const { kind, rail, account, reference, output = null } = body;
  const isComplete =
    asset !== undefined && units !== undefined && rail !== undefined && account !== undefined;
  const arrived =
    ARRIVING.includes(kind) && isComplete
      ? readMoney(fields, rules, rail, { asset, units }, { account, reference, output })
      : undefined;
  if (kind === 'CORRECTION' && JSON.stringify(from) === JSON.stringify(to) && from !== undefined) {
    fields.fault('/to', 'must differ from from');
  }
  fields.check();
  return orderOf(
    body,
    { asset: asset!, units: units! },
    { arrived: arrived!, corrects: corrects!, from: from!, to: to! },
  );
}

type Read = {
  readonly arrived: ArrivedDeposit;
  readonly corrects: Corrects;
  readonly from: AccountRef;
  readonly to: AccountRef;
};

/** The fields were checked: those that the kind requires are there. */
function orderOf(body: Body, value: Value, { arrived, corrects, from, to }: Read): Order {
  const { kind, account = null, output = null } = body;
  const [profileId, rail] = [body.profile_id!, body.rail!];
  const [suspenseId, transferId] = [body.suspense_deposit_id!, body.transfer_id!];
  switch (kind) {
    case 'OPENING_BALANCE':
    case 'MANUAL_DEPOSIT':
      return { kind, profileId, ...value, arrived };
    case 'TREASURY_FUNDING':
      return { kind, ...value, arrived };
    case 'TREASURY_PAYOUT':
      return { kind, ...value, rail, account };
    case 'SWEEP':
      return { kind, source: body.source!, asset: value.asset, units: value.units };
    case 'WRITE_OFF':
      return { kind, ...value, ...(body.rail === undefined ? { profileId } : { rail }) };
    case 'SUSPENSE_CREDIT':
      return { kind, suspenseId, profileId };
    case 'SUSPENSE_RETURN':
      return { kind, suspenseId, account };
    case 'WITHDRAWAL_RETURN':
      return { kind, transferId, ...value, account: account!, output };
    case 'CORRECTION':
      return { kind, ...value, corrects, from, to };
    default:
      return { kind, corrects };
  }
}
