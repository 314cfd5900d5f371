import type { Static } from 'typebox';
import { type Declare, privileged } from '../approvals/action.ts';
import type { CustomerReads, Database } from '../database/database.ts';
import { untilRunningEnded } from '../database/running.ts';
import { type Actor, actorOf } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { formatInstant, NS_PER_SECOND } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import { changePolicy, changePolicyCommand, type PolicyChange } from './change.ts';
import { destinationsAmong } from './destination-store.ts';
import { draftOf, dryRun } from './dry-run.ts';
import { DRY_RUN, OWN_POLICY, POLICY, POLICY_REQUEST } from './examples.ts';
import { type Policy, presentPolicy } from './policy.ts';
import {
  DryRunRequest,
  DryRunShape,
  PolicyList,
  PolicyQuery,
  PolicyRequest,
  PolicyShape,
  VersionList,
} from './schema.ts';
import { findOwnPolicy, findPolicy, listPolicies, recentUses, versionOf, versionsOf } from './store.ts';
import { type PolicyContext, readDocument } from './validate.ts';

export type PolicyParts = PolicyContext & {
  readonly declare: Declare;
  readonly database: Database;
  readonly clock: Clock;
};

const DAY_NS = 86_400n * NS_PER_SECOND;

/** Whose policies a route is about: the operator's own, or those of the calling customer. */
type Whose = 'operator' | 'own';

type Asked = Static<typeof PolicyRequest>;

/** A change waits for approval where four eyes are required. The proposal is the request. */
function declareChange(parts: PolicyParts, whose: Whose) {
  const { database, declare } = parts;
  const isOperators = whose === 'operator';
  const changeOf = (
    maker: { readonly customerId: string; readonly actor: Actor },
    asked: Asked,
  ): PolicyChange => ({
    customerId: isOperators ? null : maker.customerId,
    name: asked.name,
    enabled: asked.enabled,
    document: readDocument(asked, isOperators, parts),
    reason: asked.reason,
    actor: maker.actor,
    basedOn: asked.based_on_version,
  });
  // Withdrawals that were decided on the version before have been committed.
  const inForce = (): Promise<unknown> => untilRunningEnded(database);
  const propose = declare<Asked, Policy>({
    name: isOperators ? 'policy.change' : 'own_policy.change',
    level: isOperators ? 'OPERATOR' : 'CUSTOMER',
    summary: ({ name, enabled, reason }) =>
      `${enabled ? 'Change' : 'Disable'} the policy "${name}". ${reason}`,
    command: async (maker, asked) => changePolicyCommand(changeOf(maker, asked)),
    result: ({ id }) => ({ type: 'policy', id }),
    inForce,
  });
  return async (caller: Caller, asked: Asked) => {
    const change = changeOf({ customerId: caller.customerId, actor: actorOf(caller) }, asked);
    // A proposal is about the version that its maker has seen, and not about one that is made in the meantime.
    const based = asked.based_on_version ?? (await versionOf(database, change.customerId, asked.name));
    const proposed = await propose(caller, { ...asked, based_on_version: based });
    if (proposed !== undefined) return proposed;
    const policy = await changePolicy(database, change);
    await inForce();
    return { body: presentPolicy(policy) };
  };
}

async function runDry(parts: PolicyParts, body: Static<typeof DryRunRequest>, customerId: string | null) {
  const { database, clock, assets } = parts;
  const document = readDocument(body, customerId === null, parts);
  const sinceNs = clock.now() - BigInt(LIMITS.policyDryRunDays) * DAY_NS;
  const uses = await recentUses(database, customerId ?? undefined, sinceNs, LIMITS.policyDryRunMax);
  const places = await destinationsAmong(database, uses);
  const policy = draftOf(document, customerId);
  const result = dryRun(
    policy,
    uses.toReversed(),
    (use) => places.get(`${use.customerId}/${use.destination}`),
    assets,
  );
  const complete = uses.length < LIMITS.policyDryRunMax;
  const from = complete ? sinceNs : uses.at(-1)!.atNs;
  return { from: formatInstant(from), complete, ...result };
}

/** A policy that the caller may read. */
async function found(parts: PolicyParts, own: CustomerReads | undefined, id: string): Promise<Policy> {
  const policy =
    own === undefined ? await findPolicy(parts.database, id) : await findOwnPolicy(own, own.customerId, id);
  if (policy === undefined) throw notFound('policy', id);
  return policy;
}

function writeRoutes(parts: PolicyParts, whose: Whose): Route[] {
  const isOperator = whose === 'operator';
  const path = isOperator ? '/v2/operator/policies' : '/v2/policies';
  const tag = isOperator ? 'Operator' : 'Policies';
  const own = isOperator ? '' : 'Own';
  const about = isOperator ? 'the withdrawals of all customers' : 'your own withdrawals';
  const change = declareChange(parts, whose);
  return [
    route({
      method: 'POST',
      path,
      operationId: `change${own}Policy`,
      tag,
      summary: isOperator ? 'Create or change a policy of the operator' : 'Create or change a policy',
      description: `Rules for ${about}. A policy of a name that exists gets a new version; earlier versions stay. What exceeds a limit is refused when it is requested; what needs time or a decision is held. The answer comes when no withdrawal is decided on the version before.`,
      scope: isOperator ? 'operator:admin' : 'policy:write_policy',
      body: PolicyRequest,
      example: POLICY_REQUEST,
      response: PolicyShape,
      problems: ['invalid-state'],
      answer: isOperator ? POLICY : OWN_POLICY,
      privileged: privileged(isOperator ? 'policy.change' : 'own_policy.change'),
      handle: ({ caller, body }) => change(caller, body),
    }),
    route({
      method: 'POST',
      path: `${path}/dry-run`,
      operationId: `dryRun${own}Policy`,
      tag,
      summary: 'Show what a policy would have held or refused',
      description: `Evaluates the rules on ${about} of the last ${LIMITS.policyDryRunDays} days, at most the latest ${LIMITS.policyDryRunMax}, each at its own time. Nothing is stored. Rules that ask for a screening count as held.`,
      scope: isOperator ? 'operator:admin' : 'policy:write_policy',
      body: DryRunRequest,
      example: { applies_to: { rails: ['cubix'] }, rules: POLICY_REQUEST.rules },
      response: DryRunShape,
      problems: [],
      answer: DRY_RUN,
      handle: async ({ caller, body }) => ({
        body: await runDry(parts, body, isOperator ? null : caller.customerId),
      }),
    }),
  ];
}

function readRoutes(parts: PolicyParts, whose: Whose): Route[] {
  const { database } = parts;
  const isOperator = whose === 'operator';
  const path = isOperator ? '/v2/operator/policies' : '/v2/policies';
  const own = isOperator ? '' : 'Own';
  const common = {
    method: 'GET',
    tag: isOperator ? 'Operator' : 'Policies',
    scope: isOperator ? 'operator:read' : 'policy:read_policy',
  } as const;
  const answer = isOperator ? POLICY : OWN_POLICY;
  const readsOf = (caller: Caller) => (isOperator ? undefined : database.of(caller.customerId));
  return [
    route({
      ...common,
      path,
      operationId: `list${own}Policies`,
      summary: isOperator ? 'List policies, of the operator and of all customers' : 'List your policies',
      query: PolicyQuery,
      response: PolicyList,
      problems: [],
      answer: { items: [answer] },
      async handle({ caller, query }) {
        const page = readPage(query, `${whose}-policies`);
        const rows = isOperator
          ? await listPolicies(database, undefined, query.ids, page)
          : await listPolicies(database.of(caller.customerId), caller.customerId, query.ids, page);
        return { body: await pageOf(rows, page, presentPolicy) };
      },
    }),
    route({
      ...common,
      path: `${path}/{id}`,
      operationId: `get${own}Policy`,
      summary: 'Get a policy',
      params: IdParams,
      response: PolicyShape,
      problems: ['not-found'],
      answer,
      handle: async ({ caller, params }) => ({
        body: presentPolicy(await found(parts, readsOf(caller), params.id)),
      }),
    }),
    route({
      ...common,
      path: `${path}/{id}/versions`,
      operationId: `list${own}PolicyVersions`,
      summary: 'List the versions of a policy',
      params: IdParams,
      response: VersionList,
      problems: ['not-found'],
      answer: { items: [answer] },
      async handle({ caller, params }) {
        await found(parts, readsOf(caller), params.id);
        const versions = await versionsOf(readsOf(caller) ?? database, params.id);
        return { body: { items: versions.map(presentPolicy) } };
      },
    }),
  ];
}

export const policyRoutes = (parts: PolicyParts): Route[] =>
  (['operator', 'own'] as const).flatMap((whose) => [
    ...writeRoutes(parts, whose),
    ...readRoutes(parts, whose),
  ]);
