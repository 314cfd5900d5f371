import type { Database } from '../database/database.ts';
import { pageText, readPage } from '../kernel/paging.ts';
import { notFound, type ProblemSlug } from '../kernel/problem.ts';
import { type Answer, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { Command } from '../ledger/command.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { type CryptoWithdrawalTables, cryptoWithdrawalCommand } from '../withdrawals/crypto.ts';
import { type FiatWithdrawalTables, fiatWithdrawalCommand } from '../withdrawals/fiat.ts';
import { newWork } from '../withdrawals/store.ts';
import { CRYPTO_WITHDRAWAL, FIAT_WITHDRAWAL, INTERNAL_TRANSFER, PLATFORM_TRANSFER } from './examples.ts';
import { listTransfers } from './list-store.ts';
import { insideTransferCommand } from './platform.ts';
import {
  cryptoWithdrawalRequest,
  FiatWithdrawalRequest,
  PlatformTransferRequest,
  transferListQuery,
  transferListShape,
  transferShape,
} from './schema.ts';
import { findTransfer, newTransfers } from './store.ts';
import { type Transfer, transferText } from './transfer.ts';

type Connections = { readonly database: Database; readonly writePath: WritePath };

export type TransferDependencies = Connections &
  Omit<FiatWithdrawalTables & CryptoWithdrawalTables, 'newTransfers' | 'newWork'>;

type CreationParts = Connections & Pick<TransferDependencies, 'assets'>;

/** Makes a transfer once, and answers as users see it; deposits of the sandbox are made in the same way. */
export function transferCreator({ database, writePath, assets }: CreationParts) {
  return (customerId: string, command: Command<Transfer>): Promise<Answer<never>> =>
    createOnce(writePath, {
      command,
      load: (id) => findTransfer(database, customerId, id),
      present: (transfer) => transferText(transfer, assets),
    });
}

/** The same for a command whose answer is written down already. */
function insideTransferCreator({ database, writePath, assets }: CreationParts) {
  return (customerId: string, command: Command<string>): Promise<Answer<never>> =>
    createOnce(writePath, {
      command,
      async load(id) {
        const transfer = await findTransfer(database, customerId, id);
        return transfer && transferText(transfer, assets);
      },
      present: (text) => text,
    });
}

const CREATION_PROBLEMS: readonly ProblemSlug[] = [
  'exceeds-precision',
  'insufficient-funds',
  'forbidden',
  'not-found',
  'already-exists',
];

function insideRoutes(dependencies: TransferDependencies): Route[] {
  const create = insideTransferCreator(dependencies);
  const tables = { ...dependencies, newTransfers };
  const common = {
    method: 'POST',
    tag: 'Transfers',
    body: PlatformTransferRequest,
    response: transferShape(dependencies.networks),
    problems: CREATION_PROBLEMS,
  } as const;
  return [
    route({
      ...common,
      path: '/v2/transfer/platform',
      operationId: 'createPlatformTransfer',
      summary: 'Create a platform transfer',
      description:
        'Moves an asset between two profiles of the service. Debit and credit side are completed in one transaction; the answer is the debit side.',
      scope: 'transfer:write_platform_transfer',
      example: {
        from_profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        to_profile_id: '01981b40-0d91-7a53-8b27-64c0f1a97e15',
        asset: 'USD',
        amount: '25',
        ref_id: 'invoice-2041',
        metadata: { invoice: '2041' },
      },
      answer: PLATFORM_TRANSFER,
      examine: (caller, body) => void insideTransferCommand('PLATFORM', caller, body, tables),
      handle: ({ caller, body }) =>
        create(caller.customerId, insideTransferCommand('PLATFORM', caller, body, tables)),
    }),
    route({
      ...common,
      path: '/v2/transfer/internal',
      operationId: 'createInternalTransfer',
      summary: 'Create an internal transfer',
      description: 'Moves an asset between two of your own profiles.',
      scope: 'transfer:write_internal_transfer',
      example: {
        from_profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        to_profile_id: '01981b40-0d91-7a53-8b27-64c0f1a97e15',
        asset: 'BTC',
        amount: '0.5',
        ref_id: 'rebalance-0117',
      },
      answer: INTERNAL_TRANSFER,
      examine: (caller, body) => void insideTransferCommand('INTERNAL', caller, body, tables),
      handle: ({ caller, body }) =>
        create(caller.customerId, insideTransferCommand('INTERNAL', caller, body, tables)),
    }),
  ];
}

function withdrawalRoutes(dependencies: TransferDependencies): Route[] {
  const { networks } = dependencies;
  const create = transferCreator(dependencies);
  const tables = { ...dependencies, newTransfers, newWork };
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
      examine: (caller, body) => void fiatWithdrawalCommand(caller, body, tables),
      handle: ({ caller, body }) => create(caller.customerId, fiatWithdrawalCommand(caller, body, tables)),
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
      examine: (caller, body) => void cryptoWithdrawalCommand(caller, body, tables),
      handle: ({ caller, body }) => create(caller.customerId, cryptoWithdrawalCommand(caller, body, tables)),
    }),
  ];
}

function readRoutes({ database, assets, networks }: TransferDependencies): Route[] {
  const present = (transfer: Transfer) => transferText(transfer, assets);
  return [
    route({
      method: 'GET',
      path: '/v2/transfer/transfers',
      operationId: 'listTransfers',
      tag: 'Transfers',
      summary: 'List transfers',
      scope: 'transfer:read_transfer',
      query: transferListQuery(networks),
      response: transferListShape(networks),
      problems: [],
      answer: { items: [CRYPTO_WITHDRAWAL] },
      async handle({ caller, query }) {
        const page = readPage(query, 'transfers');
        const transfers = await listTransfers(database, caller.customerId, query, page);
        return { body: pageText(transfers, page, present) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/transfer/transfers/{id}',
      operationId: 'getTransfer',
      tag: 'Transfers',
      summary: 'Get a transfer',
      scope: 'transfer:read_transfer',
      params: IdParams,
      response: transferShape(networks),
      problems: ['not-found'],
      answer: CRYPTO_WITHDRAWAL,
      async handle({ caller, params }) {
        const transfer = await findTransfer(database, caller.customerId, params.id);
        if (transfer === undefined) throw notFound('transfer', params.id);
        return { body: present(transfer) };
      },
    }),
  ];
}

export function transferRoutes(dependencies: TransferDependencies): Route[] {
  return [...insideRoutes(dependencies), ...withdrawalRoutes(dependencies), ...readRoutes(dependencies)];
}
