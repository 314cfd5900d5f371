import type { Database } from '../database/database.ts';
import { formatInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import type { ProblemSlug } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { noPolicies, withPolicies } from '../policies/guard.ts';
import type { PolicySet } from '../policies/policy.ts';
import type { TransferAccess } from '../transfers/access.ts';
import { CRYPTO_WITHDRAWAL } from '../transfers/examples.ts';
import { transferShape } from '../transfers/schema.ts';
import { type CryptoWithdrawalTables, cryptoWithdrawalCommand } from './crypto.ts';
import { FIAT_WITHDRAWAL, OPEN_WITHDRAWAL, RAIL_CONTRADICTION } from './examples.ts';
import { type FiatWithdrawalTables, fiatWithdrawalCommand } from './fiat.ts';
import { listContradictions, listOpen } from './payout-store.ts';
import {
  cryptoWithdrawalRequest,
  FiatWithdrawalRequest,
  OpenWithdrawalList,
  OpenWithdrawalQuery,
  RailContradictionList,
  RailContradictionQuery,
} from './schema.ts';

export type CreationTables = FiatWithdrawalTables &
  CryptoWithdrawalTables & {
    /** The policies in force for a customer. */
    policiesOf(customerId: string): Promise<PolicySet>;
  };

const CREATION_PROBLEMS: readonly ProblemSlug[] = [
  'exceeds-precision',
  'insufficient-funds',
  'policy-refused',
  'forbidden',
  'not-found',
  'already-exists',
];

export function withdrawalRoutes(transfers: Pick<TransferAccess, 'create'>, tables: CreationTables): Route[] {
  const { networks } = tables;
  return [
    route({
      method: 'POST',
      path: '/v2/transfer/fiat-withdrawals',
      operationId: 'createFiatWithdrawal',
      tag: 'Transfers',
      summary: 'Create a fiat withdrawal',
      description:
        'Sends USD to a fiat account. The total is held at once; the withdrawal is PENDING until the rail has answered, and waits for as long as the fiat account is not approved.',
      scope: 'transfer:write_fiat_withdrawal',
      body: FiatWithdrawalRequest,
      example: {
        profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        fiat_account_id: '01981b41-5e08-7c6f-a1d4-92b7e35f0c86',
        asset: 'USD',
        amount: '1500',
        ref_id: 'payout-3310',
        memo: 'Invoice 2041',
      },
      response: transferShape(networks),
      problems: CREATION_PROBLEMS,
      answer: FIAT_WITHDRAWAL,
      examine: (caller, body) =>
        void fiatWithdrawalCommand(caller, body, noPolicies(caller.customerId), tables),
      handle: ({ caller, body }) =>
        withPolicies(
          () => tables.policiesOf(caller.customerId),
          (set) => transfers.create(caller.customerId, fiatWithdrawalCommand(caller, body, set, tables)),
        ),
    }),
    route({
      method: 'POST',
      path: '/v2/transfer/crypto-withdrawals',
      operationId: 'createCryptoWithdrawal',
      tag: 'Transfers',
      summary: 'Create a crypto withdrawal',
      description:
        'Sends an asset to an address on a crypto network. The total is held at once; the withdrawal is PENDING until the network has confirmed it.',
      scope: 'transfer:write_crypto_withdrawal',
      body: cryptoWithdrawalRequest(networks),
      example: {
        profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        asset: 'BTC',
        crypto_network: 'BITCOIN',
        destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
        amount: '0.05',
        ref_id: 'payout-3311',
        beneficiary: { person_details: { first_name: 'Grace', last_name: 'Hopper' } },
      },
      response: transferShape(networks),
      problems: [...CREATION_PROBLEMS, 'fee-expired'],
      answer: { ...CRYPTO_WITHDRAWAL, ref_id: 'payout-3311' },
      examine: (caller, body) =>
        void cryptoWithdrawalCommand(caller, body, noPolicies(caller.customerId), tables),
      handle: ({ caller, body }) =>
        withPolicies(
          () => tables.policiesOf(caller.customerId),
          (set) => transfers.create(caller.customerId, cryptoWithdrawalCommand(caller, body, set, tables)),
        ),
    }),
  ];
}

/** For operators: withdrawals that have not ended, of all customers. */
function openWithdrawals(
  database: Database,
  transfers: Pick<TransferAccess, 'byIds'>,
  assets: CreationTables['assets'],
): Route {
  return route({
    method: 'GET',
    path: '/v2/operator/withdrawals',
    operationId: 'listOpenWithdrawals',
    tag: 'Operator',
    summary: 'List withdrawals that have not ended',
    description:
      'By the time at which they were requested, newest first. `states=UNKNOWN` finds those whose rail does not tell whether it has the payment.',
    scope: 'operator:read',
    query: OpenWithdrawalQuery,
    response: OpenWithdrawalList,
    problems: [],
    answer: { items: [OPEN_WITHDRAWAL] },
    async handle({ query }) {
      const page = readPage(query, 'open-withdrawals');
      const found = await listOpen(database, query, page);
      const known = await transfers.byIds(found.rows.map(({ transferId }) => transferId));
      const body = await pageOf(
        found,
        page,
        ({ transferId, rail, state, attempts, failures, intentAtNs }) => {
          const { customerId, profileId, asset, amountUnits, createdAtNs, secondaryStatus } =
            known.get(transferId)!;
          return {
            transfer_id: transferId,
            customer_id: customerId,
            profile_id: profileId,
            rail,
            state,
            attempts,
            failures,
            ...(intentAtNs !== null && { submitted_at: formatInstant(intentAtNs) }),
            asset,
            amount: assets.format(asset, amountUnits),
            created_at: formatInstant(createdAtNs),
            ...(secondaryStatus && { waits_for: secondaryStatus.name, detail: secondaryStatus.detail }),
          };
        },
      );
      return { body };
    },
  });
}

/** For operators: what somebody has to investigate. */
export function operatorRoutes(
  database: Database,
  transfers: Pick<TransferAccess, 'byIds'>,
  { assets }: Pick<CreationTables, 'assets'>,
): Route[] {
  return [
    openWithdrawals(database, transfers, assets),
    route({
      method: 'GET',
      path: '/v2/operator/rail-contradictions',
      operationId: 'listRailContradictions',
      tag: 'Operator',
      summary: 'List reports of rails that contradict the record of a withdrawal',
      description:
        'Nothing was posted for these reports: a withdrawal ends once, and only the rail that was asked to pay it can end it.',
      scope: 'operator:review',
      query: RailContradictionQuery,
      response: RailContradictionList,
      problems: [],
      answer: { items: [RAIL_CONTRADICTION] },
      async handle({ query }) {
        const page = readPage(query, 'contradictions');
        const rows = await listContradictions(database, page);
        const body = await pageOf(rows, page, ({ transferId, rail, reported, recorded, detail, atNs }) => ({
          transfer_id: transferId,
          rail,
          reported,
          recorded,
          detail,
          created_at: formatInstant(atNs),
        }));
        return { body };
      },
    }),
  ];
}
