import { privileged } from '../approvals/action.ts';
import { isId } from '../kernel/id.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { Networks } from '../networks/register.ts';
import { addressRoutes } from './address-routes.ts';
import { createListing, type Listing, presentDestination, removeFromList } from './destination-list.ts';
import { listDestinations } from './destination-store.ts';
import { velocityRules } from './evaluate.ts';
import { DESTINATION, DESTINATION_REQUEST, UTILIZATION } from './examples.ts';
import { destinationOf } from './policy.ts';
import type { PolicyParts } from './routes.ts';
import {
  DestinationList,
  DestinationQuery,
  DestinationRequest,
  DestinationShape,
  UtilizationList,
  UtilizationQuery,
} from './schema.ts';
import { policySetOf, usedNow } from './store.ts';

const TAG = 'Policies';

/** The canonical form: an address has one, however it is written. */
function readDestination(text: string, networks: Networks): string {
  const slash = text.indexOf('/');
  const [network, address] = [text.slice(0, slash), text.slice(slash + 1)];
  if (network === 'fiat_account' && isId(address)) return destinationOf({ fiatAccountId: address });
  const pointer = '/destination';
  if (!networks.isCryptoNetwork(network))
    throw invalidField(
      pointer,
      `must be fiat_account/ and the id of a fiat account, or one of ${networks.cryptoNetworks.join(', ')}, a slash and an address`,
    );
  const fault = networks.addressFault(network, address);
  if (fault !== undefined) throw invalidField(pointer, `has an address that ${fault}`);
  return destinationOf({ network, address: networks.canonicalAddress(network, address) });
}

function destinationRoutes(parts: PolicyParts, listing: Listing): Route[] {
  const { database, networks } = parts;
  return [
    route({
      method: 'POST',
      path: '/v2/destinations',
      operationId: 'listDestinationForWithdrawals',
      tag: TAG,
      summary: 'Put a destination on your list',
      description:
        'For policies that allow only listed destinations. The cooling-off time of such a policy begins when it is listed. A destination that is on the list stays as it is.',
      scope: 'policy:write_policy',
      body: DestinationRequest,
      example: DESTINATION_REQUEST,
      response: DestinationShape,
      problems: [],
      answer: DESTINATION,
      privileged: privileged('own_destination.list'),
      async handle({ caller, body }) {
        const destination = readDestination(body.destination, networks);
        return listing(caller, { destination, label: body.label }, presentDestination);
      },
    }),
    route({
      method: 'GET',
      path: '/v2/destinations',
      operationId: 'listDestinations',
      tag: TAG,
      summary: 'List your destinations',
      scope: 'policy:read_policy',
      query: DestinationQuery,
      response: DestinationList,
      problems: [],
      answer: { items: [DESTINATION] },
      async handle({ caller, query }) {
        const page = readPage(query, 'destinations');
        const rows = await listDestinations(
          database.of(caller.customerId),
          caller.customerId,
          { ids: query.ids },
          page,
        );
        return { body: await pageOf(rows, page, presentDestination) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v2/destinations/{id}',
      operationId: 'removeDestination',
      tag: TAG,
      summary: 'Take a destination off your list',
      description: 'Withdrawals that were accepted before are paid.',
      scope: 'policy:write_policy',
      params: IdParams,
      response: DestinationShape,
      problems: ['not-found'],
      answer: DESTINATION,
      async handle({ caller, params }) {
        const removed = await removeFromList(parts, caller, params.id);
        if (removed === undefined) throw notFound('destination', params.id);
        return { body: presentDestination(removed) };
      },
    }),
  ];
}

/** What is used of the velocity limits that concern a withdrawal. Those of all customers together are not shown. */
function utilizationRoute({ database, assets }: PolicyParts): Route {
  return route({
    method: 'GET',
    path: '/v2/transfer/limits/utilizations',
    operationId: 'listLimitUtilizations',
    tag: TAG,
    summary: 'Show what is used of the limits',
    description:
      'The velocity limits for withdrawals of an asset from a profile, of the operator and your own.',
    scope: 'policy:read_policy',
    query: UtilizationQuery,
    response: UtilizationList,
    problems: [],
    answer: { items: [UTILIZATION] },
    async handle({ caller, query }) {
      const { profile_id: profileId, asset } = query;
      const { customerId } = caller;
      const { policies } = await policySetOf(database, customerId);
      const rules = velocityRules(policies, { customerId, profileId, asset });
      const items = rules.flatMap(({ policy, rule, meter }) =>
        rule.per === 'ALL' ? [] : [{ policy, rule, meter, per: rule.per }],
      );
      const shown = await Promise.all(
        items.map(async ({ policy, rule, meter, per }) => {
          // A profile of another customer has used nothing here.
          const used = await usedNow(database, { ...meter, customerId });
          const parsed = assets.parse(asset, rule.max);
          const max = parsed.ok ? parsed.units : 0n;
          const { rails } = policy.document.applies_to ?? {};
          return {
            policy: policy.name,
            rule: rule.name,
            window: rule.window,
            per,
            asset,
            max: assets.format(asset, max),
            used: assets.format(asset, used),
            available: assets.format(asset, max > used ? max - used : 0n),
            ...(rails && { rails: [...rails] }),
          };
        }),
      );
      return { body: { items: shown } };
    },
  });
}

export function ownRoutes(parts: PolicyParts): Route[] {
  const listing = createListing(parts);
  return [...destinationRoutes(parts, listing), ...addressRoutes(parts, listing), utilizationRoute(parts)];
}
