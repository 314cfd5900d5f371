import { EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import { invalidField, notFound, Problem, type ProblemSlug, unavailable } from '../kernel/problem.ts';
import type { Route } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';
import { problemFrom } from './problems.ts';
import { scopeProblem } from './routes.ts';

/** A problem of each kind as an operation really gives it, for the documentation; a test provokes and compares them. */
type Fields = Readonly<Record<string, unknown>>;

const exampleOf = (route: Route): Fields => (route.example ?? {}) as Fields;
const answerOf = (route: Route): Fields => (route.answer ?? {}) as Fields;
const textOf = (fields: Fields, name: string): string | undefined =>
  typeof fields[name] === 'string' ? fields[name] : undefined;

/** What an operation calls the thing in its path, by the part of the path before its id; and the id, if not the answer's. */
const RESOURCES: Readonly<Record<string, readonly [resource: string, id?: string]>> = {
  transfers: ['transfer'],
  profiles: ['profile', EXAMPLE_IDS.profile],
  identities: ['identity'],
  accounts: ['account'],
  'account-members': ['account_member'],
  'fiat-accounts': ['fiat account'],
  transactions: ['settlement transaction'],
  'suspense-deposits': ['suspense deposit', EXAMPLE_IDS.suspenseDeposit],
  events: ['event'],
  webhooks: ['webhook', EXAMPLE_IDS.webhook],
};

/** Where there is none in the path: fields of the body that name something, what, and an id where the example has none. */
const IDENTITY = ['identity_id', 'identity', EXAMPLE_IDS.identity] as const;
const NAMED: readonly (readonly [field: string, resource: string, id?: string])[] = [
  ['from_profile_id', 'profile'],
  ['source_profile_id', 'profile'],
  ['profile_id', 'profile'],
  ['address', 'deposit address'],
  ['memo_id', 'deposit address'],
  IDENTITY,
  ['account_id', 'account', EXAMPLE_IDS.account],
];

function notFoundExample(route: Route): Problem {
  const [, kind] = /\/([^/{}]+)\/\{id\}/.exec(route.path) ?? [];
  if (kind !== undefined) {
    const [resource, id = textOf(answerOf(route), 'id')] = RESOURCES[kind]!;
    return notFound(resource, id!);
  }
  const { properties = {} } = (route.body ?? {}) as { properties?: Fields };
  const [field, resource, id] = NAMED.find(([name]) => name in properties) ?? IDENTITY;
  return notFound(resource, textOf(exampleOf(route), field) ?? id!);
}

/** The first field that is asked for is missing; where none is, there is a parameter too many. */
function invalidExample(route: Route): Problem {
  const { required = [] } = (route.body ?? {}) as { required?: readonly string[] };
  return required[0] === undefined
    ? invalidField('/query/colour', 'is not a known parameter')
    : invalidField(`/${required[0]}`, 'is required');
}

function precisionExample(route: Route): Problem {
  const { legs } = exampleOf(route) as { legs?: readonly Fields[] };
  const pointer = legs === undefined ? '/amount' : '/legs/0/amount';
  const asset = textOf(legs?.[0] ?? exampleOf(route), 'asset') ?? 'USD';
  const decimals = asset === 'USD' ? 2 : 8;
  const message = `has ${decimals + 1} decimals, at most ${decimals} are allowed`;
  return new Problem('exceeds-precision', `${pointer.slice(1)} ${message} for ${asset}.`, {
    asset,
    max_decimals: decimals,
    errors: [{ pointer, message }],
  });
}

function fundsExample(route: Route): Problem {
  const { asset = 'USD', total: needed = '25' } = answerOf(route);
  const available = '0.01';
  return new Problem(
    'insufficient-funds',
    `Profile ${EXAMPLE_IDS.profile} has ${available} ${String(asset)} available, ${String(needed)} ${String(asset)} are needed.`,
    { profile_id: EXAMPLE_IDS.profile, asset, available, needed },
  );
}

function forbiddenExample({ operationId, tag }: Route): Problem {
  const { profile, otherProfile, identity } = EXAMPLE_IDS;
  if (operationId === 'createWebhook') {
    const max = LIMITS.webhookEndpointsMax;
    return new Problem(
      'forbidden',
      `You already have ${max} webhook endpoints, which is the maximum. Delete one first.`,
      { max },
    );
  }
  if (tag === 'Webhooks') {
    const detail = 'Webhooks are disabled: the operator of this service has not set FERRY_SECRET_KEY.';
    return new Problem('forbidden', detail);
  }
  const move = /^(affirm|cancel)Settlement/.exec(operationId)?.[1];
  if (move !== undefined) {
    const [side, owned] = move === 'affirm' ? ['target', otherProfile] : ['source', profile];
    const detail = `Only the owner of the ${side} profile ${owned} may ${move}.`;
    return new Problem('forbidden', detail, { profile_id: owned });
  }
  return ['Accounts', 'Fiat accounts'].includes(tag)
    ? new Problem('forbidden', `Identity ${identity} is disabled.`, { identity_id: identity })
    : new Problem('forbidden', `Profile ${profile} is disabled.`, { profile_id: profile });
}

/** What a second request under the same ref_id most likely says otherwise. */
const DIFFERING = ['amount', 'legs', 'url', 'metadata', 'create_profile'];

function existsExample(route: Route): Problem {
  const example = exampleOf(route);
  const { secret: _, ...existing } = answerOf(route);
  if (route.operationId === 'createProfile') {
    const detail = `There is a profile with the nickname "${String(example.nickname)}" already.`;
    return new Problem('already-exists', detail, { existing, differs: ['description'] });
  }
  if (route.operationId === 'addAccountMembers') {
    const { members = [] } = answerOf(route) as { members?: readonly { identity_id: string }[] };
    const detail = `Identity ${members[0]?.identity_id} is a member of the account already, with the roles AUTHORIZED_USER.`;
    return new Problem('already-exists', detail, { existing: members[0], differs: ['roles'] });
  }
  const names = Object.keys(example).filter((name) => name !== 'ref_id');
  const differs = DIFFERING.find((name) => names.includes(name)) ?? names[0]!;
  const refId = textOf(example, 'ref_id') ?? textOf(answerOf(route), 'ref_id') ?? 'my-own-id';
  const detail = `The ref_id "${refId}" was used for a different request; they differ in ${differs}.`;
  return new Problem('already-exists', detail, { existing, differs: [differs] });
}

function stateExample(route: Route): Problem {
  const id = String(answerOf(route).id);
  const stated = (detail: string, status: string): Problem =>
    new Problem('invalid-state', detail, { status });
  if (route.operationId === 'replayWebhookDelivery')
    return stated('The delivery is still pending.', 'PENDING');
  if (route.tag === 'Webhooks')
    return stated(
      'The service can no longer read the secret of this endpoint, because the key of the service has changed. Rotate the secret.',
      'SECRET_UNREADABLE',
    );
  if (route.tag === 'Settlement') {
    const status = route.operationId.startsWith('affirm') ? 'CANCELLED' : 'AFFIRMED';
    const to = String(answerOf(route).status);
    return stated(`Settlement transaction ${id} cannot become ${to}: it is ${status}.`, status);
  }
  if (route.path.includes('/fiat-accounts/'))
    return stated(
      `Fiat account ${id} is APPROVED; only a PENDING one can become ${String(answerOf(route).status)}.`,
      'APPROVED',
    );
  if (route.path.includes('/suspense-deposits/'))
    return stated(`It was credited as the transfer ${id}.`, 'CREDITED');
  return stated(`Transfer ${id} is COMPLETED.`, 'COMPLETED');
}

const MAKERS: Readonly<Record<ProblemSlug, (route: Route) => Problem>> = {
  'invalid-request': invalidExample,
  'exceeds-precision': precisionExample,
  unauthenticated: () =>
    new Problem('unauthenticated', 'The access token has expired.', { error: 'invalid_token' }),
  'insufficient-scope': ({ scope }) =>
    scopeProblem(scope, [scope === 'events:read_event' ? 'funding:read_profile' : 'events:read_event']),
  'insufficient-funds': fundsExample,
  'fee-expired': () =>
    new Problem('fee-expired', `The guaranteed fee ${EXAMPLE_IDS.fee} expired at ${EXAMPLE_LATER}.`, {
      expired_at: EXAMPLE_LATER,
    }),
  forbidden: forbiddenExample,
  'not-found': notFoundExample,
  'method-not-allowed': ({ path, method }) =>
    new Problem('method-not-allowed', `${path} knows ${method}, not PATCH.`, { allow: [method] }),
  'already-exists': existsExample,
  'invalid-state': stateExample,
  'payload-too-large': () => problemFrom({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' }),
  'unsupported-media-type': () => problemFrom({ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }),
  'rate-limited': () => {
    const count = LIMITS.clientRequestsMax;
    const detail = `Client ferry_b4347fb43a4afb2b9f86baf8 has ${count} requests in flight, the most that it may have.`;
    return new Problem('rate-limited', detail, { in_flight: count }, 1);
  },
  internal: () => problemFrom(new Error()),
  unavailable: () => unavailable('The database is away; nothing was done.'),
};

export function problemExample(route: Route, slug: ProblemSlug): Problem {
  return MAKERS[slug](route);
}
