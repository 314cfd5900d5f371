import { createHash } from 'node:crypto';
import type { Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import type { Networks, RailName } from '../networks/register.ts';
import type { Report } from '../rails/notice-store.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { completedState, failedState } from './outcome.ts';
import type { AdapterNotice } from './schema.ts';

/** What an adapter reports, as notices of its rail. */

export type NoticeContext = {
  readonly rail: RailName;
  readonly assets: Assets;
  readonly networks: Networks;
};

type Field = Exclude<keyof AdapterNotice, 'type'>;
type FieldsOf = { readonly required: readonly Field[]; readonly optional?: readonly Field[] };

const IN_BANK: readonly Field[] = ['account', 'reference', 'asset', 'amount'];
const ON_CHAIN: readonly Field[] = ['tx_hash', 'address', 'asset', 'amount'];

/** The fields of each type of notice, on banks and on chains. */
function fieldsOf({ type, status }: AdapterNotice, isChain: boolean): FieldsOf {
  if (type === 'payment') {
    if (status === 'failed') return { required: ['key', 'status', 'reason'], optional: ['public_reason'] };
    const required: Field[] = ['key', 'status', ...(isChain ? (['tx_hash'] as const) : [])];
    return { required, optional: ['detail', ...(isChain ? (['tx_index'] as const) : [])] };
  }
  const required = [...(type === 'return' ? (['key'] as const) : []), ...(isChain ? ON_CHAIN : IN_BANK)];
  if (isChain) return { required, optional: ['output'] };
  return { required, optional: type === 'return' ? [] : ['memo_id'] };
}

/** A field that were ignored would be a surprise, so every type has exactly its own. */
function checkFields(
  fields: Fields,
  notice: AdapterNotice,
  at: string,
  { rail, networks }: NoticeContext,
): void {
  const { required, optional = [] } = fieldsOf(notice, networks.isCryptoNetwork(rail));
  const what = `a notice of the type ${notice.type} on ${rail}`;
  for (const name of Object.keys(notice) as (keyof AdapterNotice)[]) {
    if (name !== 'type' && !required.includes(name) && !optional.includes(name))
      fields.fault(`${at}/${name}`, `must be absent in ${what}`);
  }
  for (const name of required)
    if (notice[name] === undefined) fields.fault(`${at}/${name}`, `is required in ${what}`);
}

/** What arrived, identified as every deposit of the rail is. */
function arrivedOf(
  notice: AdapterNotice,
  amountUnits: bigint,
  { rail, networks }: NoticeContext,
): ArrivedDeposit {
  const asset = notice.asset!;
  if (networks.isCryptoNetwork(rail)) {
    const { tx_hash: txHash, output = null, address } = notice;
    return { rail, txHash: txHash!, output, address: address!, asset, amountUnits };
  }
  const { account, reference, key, memo_id: memoId = '' } = notice;
  return {
    rail,
    account: account!,
    reference: reference!,
    // A return that cannot be booked is kept in suspense, where this tells the operator what it is.
    memoId: notice.type === 'return' ? `Return of payment ${key!}` : memoId,
    asset,
    amountUnits,
  };
}

/** The same notice always has the same key, and another notice another one, whatever ids an adapter gives to its requests. */
function sourceKeyOf(notice: object): string {
  const text = JSON.stringify(notice, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  return createHash('sha256').update(text).digest('base64url');
}

function noticeOf(
  notice: AdapterNotice,
  units: bigint | undefined,
  context: NoticeContext,
): Report['notice'] {
  const { rail, networks } = context;
  const { type, key, status } = notice;
  if (type === 'payment') {
    const facts = { name: rail, isChain: networks.isCryptoNetwork(rail) };
    const state = status === 'failed' ? failedState(notice) : completedState(facts, notice);
    return { about: 'payment', rail, key: key!, state };
  }
  const arrived = arrivedOf(notice, units!, context);
  return type === 'deposit'
    ? { about: 'deposit', deposit: arrived }
    : { about: 'return', key: key!, arrived };
}

/** Throws a problem that names every invalid field. */
export function readNotices(
  body: { readonly rail: string; readonly notices: readonly AdapterNotice[] },
  context: NoticeContext,
): Report[] {
  const fields = createFields(context.assets);
  // Two rails may share a secret: the notices of one must not count for the other.
  if (body.rail !== context.rail) fields.fault('/rail', `must be ${context.rail}, the rail of this path`);
  const units = body.notices.map((notice, index) => {
    const at = `/notices/${index}`;
    checkFields(fields, notice, at, context);
    const asset = notice.asset === undefined ? undefined : fields.asset(`${at}/asset`, notice.asset);
    return notice.amount === undefined ? undefined : fields.amount(`${at}/amount`, notice.amount, asset);
  });
  fields.check();
  return body.notices.map((one, index) => {
    const notice = noticeOf(one, units[index], context);
    return { sourceKey: sourceKeyOf(notice), notice };
  });
}
