import { privileged } from '../approvals/action.ts';
import type { Result } from '../approvals/approval.ts';
import { recordChanges } from '../events/append.ts';
import type { Change } from '../events/outbox.ts';
import { actorOf, actorText } from '../kernel/actor.ts';
import { isId, newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { type Act, actCommand } from '../ledger/act.ts';
import type { Networks } from '../networks/register.ts';
import {
  addDestination,
  type Destination,
  findDestination,
  listDestinations,
  removeDestination,
} from './destination-store.ts';
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

const presentDestination = ({ id, destination, label, addedBy, createdAtNs }: Destination) => ({
  id,
  destination,
  ...(label !== null && { label }),
  added_by: addedBy,
  created_at: formatInstant(createdAtNs),
});

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

const destinationChange = (what: 'listed' | 'removed', row: Destination, at: Instant): Change => ({
  action: `destination.${what}`,
  customerId: row.customerId,
  resourceId: row.id,
  at,
  after: what === 'removed' ? null : presentDestination(row),
});

type ListingAsked = {
  readonly destination_id: string;
  readonly destination: string;
  readonly label?: string;
};

/** Lists it. One that is listed already stays as it is. */
const listing =
  ({ destination_id: id, destination, label }: ListingAsked, customerId: string): Act =>
  async (tx, actor) => {
    const added = { id, customerId, destination, label: label ?? null, addedBy: actorText(actor) };
    const { row, isNew } = await addDestination(tx, added);
    if (isNew) await recordChanges(tx, actor, [destinationChange('listed', row, row.createdAtNs)]);
  };

/** A new destination waits for approval where four eyes are required: otherwise an allow-list would protect from nobody. */
function listingRoute({ database, networks, declare }: PolicyParts): Route {
  const propose = declare<ListingAsked, Result>({
    name: 'own_destination.list',
    level: 'CUSTOMER',
    summary: ({ destination, label }) => `List the destination ${destination}${label ? ` (${label})` : ''}.`,
    command: async ({ actor, customerId }, asked) =>
      actCommand(actor, listing(asked, customerId), { type: 'destination', id: asked.destination_id }),
    result: (made) => made,
  });
  return route({
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
      const { customerId } = caller;
      const { label } = body;
      const asked = { destination_id: newId(), destination, ...(label !== undefined && { label }) };
      const known = await findDestination(database.of(customerId), customerId, destination);
      if (known?.listed === true) return { body: presentDestination(known) };
      const proposed = await propose(caller, asked);
      if (proposed !== undefined) return proposed;
      await database.transaction((tx) => listing(asked, customerId)(tx, actorOf(caller)));
      return {
        body: presentDestination((await findDestination(database.of(customerId), customerId, destination))!),
      };
    },
  });
}

function destinationRoutes(parts: PolicyParts): Route[] {
  const { database, clock } = parts;
  return [
    listingRoute(parts),
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
          query.ids,
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
        const removed = await database.transaction(async (tx) => {
          const row = await removeDestination(tx, caller.customerId, params.id);
          if (row === undefined) throw notFound('destination', params.id);
          await recordChanges(tx, actorOf(caller), [destinationChange('removed', row, clock.now())]);
          return row;
        });
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

export const ownRoutes = (parts: PolicyParts): Route[] => [
  ...destinationRoutes(parts),
  utilizationRoute(parts),
];
