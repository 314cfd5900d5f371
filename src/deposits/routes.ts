import { randomInt } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import { depositAddressOn, depositInstructionsOn } from '../rails/call.ts';
import type { Rail, Rails } from '../rails/rail.ts';
import type { ArrivalTables } from './arrival.ts';
import {
  addressKey,
  depositAddressCommand,
  depositInstructionsCommand,
  examination,
  type TargetTables,
} from './commands.ts';
import { DEPOSIT_ADDRESS, DEPOSIT_INSTRUCTIONS, SUSPENSE_DEPOSIT } from './examples.ts';
import {
  DepositInstructionsListQuery,
  depositAddressList,
  depositAddressListQuery,
  depositAddressRequest,
  depositAddressShape,
  depositInstructionsList,
  depositInstructionsRequest,
  depositInstructionsShape,
  SuspenseList,
  SuspenseListQuery,
} from './schema.ts';
import {
  addressOfRef,
  findAddress,
  findInstructions,
  listAddresses,
  listInstructions,
  listSuspense,
  newAddresses,
  newInstructions,
} from './store.ts';
import { presentSuspense } from './suspense-deposit.ts';
import { kindOfNetwork, presentDepositAddress, presentInstructions } from './target.ts';

export type DepositDependencies = Omit<TargetTables, 'newAddresses' | 'newInstructions'> &
  ArrivalTables & { readonly database: Database; readonly writePath: WritePath; readonly rails: Rails };

const TAG = 'Deposits';
/** Without I, L, O and U, which are easily confused with 1, 1, 0 and V. */
const MEMO_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function newMemoId(): string {
  return Array.from({ length: 12 }, () => MEMO_ALPHABET[randomInt(MEMO_ALPHABET.length)]).join('');
}

function addressRoutes(dependencies: DepositDependencies, tables: TargetTables): Route[] {
  const { database, writePath, rails, networks } = dependencies;

  async function newAddress(rail: Rail, key: string): Promise<string> {
    const network = rail.name as CryptoNetwork;
    const address = networks.canonicalAddress(
      network,
      await depositAddressOn(rail, key, LIMITS.railQuoteTimeoutMs),
    );
    if (rail.isAddress?.(address) ?? networks.addressFault(network, address) === undefined) return address;
    throw new Error(`the ${network} rail returned an address that is not valid on ${network}`);
  }

  return [
    route({
      method: 'POST',
      path: '/v2/transfer/deposit-addresses',
      operationId: 'createDepositAddress',
      tag: TAG,
      summary: 'Create a deposit address',
      description:
        'Creates an address of the profile on a crypto network. Deposits to it are credited to the profile, with the metadata of this request.',
      scope: 'transfer:write_deposit_address',
      body: depositAddressRequest(networks),
      example: {
        profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        crypto_network: 'BITCOIN',
        ref_id: 'address-0001',
        metadata: { user: '42' },
      },
      response: depositAddressShape(networks),
      problems: ['forbidden', 'not-found', 'already-exists'],
      answer: DEPOSIT_ADDRESS,
      async handle({ caller, body }) {
        const { crypto_network: network } = body;
        const rail = rails.find(network);
        if (rail?.depositAddress === undefined) {
          throw invalidField('/crypto_network', `${network} has no configured rail on this service`);
        }
        const id = newId();
        const commandFor = (address: string) => depositAddressCommand(caller, body, { id, address }, tables);
        const { customerId } = caller;
        const { ref_id: refId } = body;
        const known =
          refId === undefined ? undefined : await addressOfRef(database.of(customerId), customerId, refId);
        // Before an address is taken: a request that is refused takes none.
        if (known === undefined) await writePath.submit(examination(commandFor('')));
        const address =
          known ?? (await newAddress(rail, refId === undefined ? id : addressKey(customerId, refId)));
        return createOnce(writePath, {
          command: commandFor(address),
          load: (existing) => findAddress(database.of(caller.customerId), caller.customerId, existing),
          present: presentDepositAddress,
        });
      },
    }),
    route({
      method: 'GET',
      path: '/v2/transfer/deposit-addresses',
      operationId: 'listDepositAddresses',
      tag: TAG,
      summary: 'List deposit addresses',
      scope: 'transfer:read_deposit_address',
      query: depositAddressListQuery(networks),
      response: depositAddressList(networks),
      problems: [],
      answer: { items: [DEPOSIT_ADDRESS] },
      async handle({ caller, query }) {
        const page = readPage(query, 'deposit-addresses');
        const rows = await listAddresses(database.of(caller.customerId), caller.customerId, query, page);
        return { body: await pageOf(rows, page, presentDepositAddress) };
      },
    }),
  ];
}

function instructionsRoutes(dependencies: DepositDependencies, tables: TargetTables): Route[] {
  const { database, writePath, rails, networks } = dependencies;
  return [
    route({
      method: 'POST',
      path: '/v2/transfer/fiat-deposit-instructions',
      operationId: 'createFiatDepositInstructions',
      tag: TAG,
      summary: 'Create fiat deposit instructions',
      description:
        'Returns the account to pay to, and the memo_id to put into the memo. Payments with it are credited to the profile, with the metadata of this request.',
      scope: 'transfer:write_fiat_deposit_instructions',
      body: depositInstructionsRequest(networks),
      example: {
        profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        fiat_network: 'WIRE',
        ref_id: 'instructions-0001',
        metadata: { user: '42' },
      },
      response: depositInstructionsShape(networks),
      problems: ['forbidden', 'not-found', 'already-exists'],
      answer: DEPOSIT_INSTRUCTIONS,
      async handle({ caller, body }) {
        const rail = rails.find(kindOfNetwork(body.fiat_network));
        if (rail?.depositInstructions === undefined) {
          throw invalidField('/fiat_network', `${body.fiat_network} has no configured rail on this service`);
        }
        const instructions = await depositInstructionsOn(rail, LIMITS.railQuoteTimeoutMs);
        const made = { id: newId(), memoId: newMemoId(), instructions };
        return createOnce(writePath, {
          command: depositInstructionsCommand(caller, body, made, tables),
          load: (existing) => findInstructions(database.of(caller.customerId), caller.customerId, existing),
          present: (target) => presentInstructions(target) as never,
        });
      },
    }),
    route({
      method: 'GET',
      path: '/v2/transfer/fiat-deposit-instructions',
      operationId: 'listFiatDepositInstructions',
      tag: TAG,
      summary: 'List fiat deposit instructions',
      scope: 'transfer:read_fiat_deposit_instructions',
      query: DepositInstructionsListQuery,
      response: depositInstructionsList(networks),
      problems: [],
      answer: { items: [DEPOSIT_INSTRUCTIONS] },
      async handle({ caller, query }) {
        const page = readPage(query, 'deposit-instructions');
        const rows = await listInstructions(database.of(caller.customerId), caller.customerId, query, page);
        return { body: await pageOf(rows, page, (target) => presentInstructions(target) as never) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/transfer/fiat-deposit-instructions/{id}',
      operationId: 'getFiatDepositInstructions',
      tag: TAG,
      summary: 'Get fiat deposit instructions',
      scope: 'transfer:read_fiat_deposit_instructions',
      params: IdParams,
      response: depositInstructionsShape(networks),
      problems: ['not-found'],
      answer: DEPOSIT_INSTRUCTIONS,
      async handle({ caller, params }) {
        const found = await findInstructions(database.of(caller.customerId), caller.customerId, params.id);
        if (found === undefined) throw notFound('fiat deposit instructions', params.id);
        return { body: presentInstructions(found) as never };
      },
    }),
  ];
}

function suspenseRoutes(dependencies: DepositDependencies): Route[] {
  const { database, assets } = dependencies;
  return [
    route({
      method: 'GET',
      path: '/v2/operator/suspense-deposits',
      operationId: 'listSuspenseDeposits',
      tag: 'Operator',
      summary: 'List deposits that could not be credited',
      description:
        'Their value is on the account `suspense` until an operator credits it or returns it to its sender. Nothing is posted for an asset that is not configured.',
      scope: 'operator:review',
      query: SuspenseListQuery,
      response: SuspenseList,
      problems: [],
      answer: { items: [SUSPENSE_DEPOSIT] },
      async handle({ query }) {
        const page = readPage(query, 'suspense');
        const rows = await listSuspense(database, query, page);
        return { body: await pageOf(rows, page, (row) => presentSuspense(row, assets)) };
      },
    }),
  ];
}

export function depositRoutes(dependencies: DepositDependencies): Route[] {
  const tables: TargetTables = { ...dependencies, newAddresses, newInstructions };
  return [
    ...addressRoutes(dependencies, tables),
    ...instructionsRoutes(dependencies, tables),
    ...suspenseRoutes(dependencies),
  ];
}
