import { privileged } from '../approvals/action.ts';
import { formatInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { type Listing, removeFromList } from './destination-list.ts';
import { type Destination, findAddress, listDestinations } from './destination-store.ts';
import { SAVED_ADDRESS, SAVED_ADDRESS_REQUEST } from './examples.ts';
import { destinationOf } from './policy.ts';
import type { PolicyParts } from './routes.ts';
import { savedAddressList, savedAddressQuery, savedAddressRequest, savedAddressShape } from './schema.ts';

/** Saved addresses are the destinations on the list of the customer that are addresses: policies see the same list. */
export function presentAddress({ id, destination, label, createdAtNs }: Destination) {
  const slash = destination.indexOf('/');
  return {
    id,
    crypto_network: destination.slice(0, slash),
    address: destination.slice(slash + 1),
    ...(label !== null && { label }),
    created_at: formatInstant(createdAtNs),
  };
}

const TAG = 'Policies';
const PATH = '/v2/transfer/crypto-destination-addresses';
const READ = 'policy:read_policy';
const WRITE = 'policy:write_policy';

export const addressRoutes = (parts: PolicyParts, listing: Listing): Route[] => [
  ...writeRoutes(parts, listing),
  ...readRoutes(parts),
];

function writeRoutes(parts: PolicyParts, listing: Listing): Route[] {
  const { database, networks } = parts;
  const response = savedAddressShape(networks);
  return [
    route({
      method: 'POST',
      path: PATH,
      operationId: 'createCryptoDestinationAddress',
      tag: TAG,
      summary: 'Save a crypto address to withdraw to',
      description:
        'Puts the address on your list of destinations, with a label, as `POST /v2/destinations` does: for policies that allow only listed destinations, the cooling-off time begins when it is listed. An address that is saved already stays as it is. Withdraw to it by its `address`.',
      scope: WRITE,
      body: savedAddressRequest(networks),
      example: SAVED_ADDRESS_REQUEST,
      response,
      problems: [],
      answer: SAVED_ADDRESS,
      privileged: privileged('own_destination.list'),
      async handle({ caller, body }) {
        const { crypto_network: network, address, label } = body;
        const fault = networks.addressFault(network, address);
        if (fault !== undefined) throw invalidField('/address', fault);
        const destination = destinationOf({ network, address: networks.canonicalAddress(network, address) });
        return listing(caller, { destination, label }, (row) => presentAddress(row) as never);
      },
    }),
    route({
      method: 'DELETE',
      path: `${PATH}/{id}`,
      operationId: 'deleteCryptoDestinationAddress',
      tag: TAG,
      summary: 'Delete a saved crypto address',
      description:
        'Takes the address off your list of destinations. Withdrawals that were accepted before are paid.',
      scope: WRITE,
      params: IdParams,
      response,
      problems: ['not-found'],
      answer: SAVED_ADDRESS,
      async handle({ caller, params }) {
        const { id } = params;
        const found = await findAddress(database.of(caller.customerId), caller.customerId, id);
        const removed = found && (await removeFromList(parts, caller, id));
        if (removed === undefined) throw notFound('crypto destination address', id);
        return { body: presentAddress(removed) as never };
      },
    }),
  ];
}

function readRoutes({ database, networks }: PolicyParts): Route[] {
  return [
    route({
      method: 'GET',
      path: PATH,
      operationId: 'listCryptoDestinationAddresses',
      tag: TAG,
      summary: 'List saved crypto addresses',
      scope: READ,
      query: savedAddressQuery(networks),
      response: savedAddressList(networks),
      problems: [],
      answer: { items: [SAVED_ADDRESS] },
      async handle({ caller, query }) {
        const page = readPage(query, 'crypto-destination-addresses');
        const { ids, crypto_networks: cryptoNetworks = networks.cryptoNetworks } = query;
        const filters = { ids, cryptoNetworks };
        const rows = await listDestinations(database.of(caller.customerId), caller.customerId, filters, page);
        return { body: await pageOf(rows, page, presentAddress) };
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/{id}`,
      operationId: 'getCryptoDestinationAddress',
      tag: TAG,
      summary: 'Get a saved crypto address',
      scope: READ,
      params: IdParams,
      response: savedAddressShape(networks),
      problems: ['not-found'],
      answer: SAVED_ADDRESS,
      async handle({ caller, params }) {
        const found = await findAddress(database.of(caller.customerId), caller.customerId, params.id);
        if (found === undefined) throw notFound('crypto destination address', params.id);
        return { body: presentAddress(found) as never };
      },
    }),
  ];
}
