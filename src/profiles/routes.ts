import type { CustomerReads, Database } from '../database/database.ts';
import type { EndUserFacts } from '../identity/rules.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { parseComparable } from '../kernel/instant.ts';
import { NOT_A_TIME, pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { type AssetBalance, balancesAt, balancesOf } from '../ledger/balances.ts';
import type { Table } from '../ledger/command.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { deactivateProfile, updateProfile } from './change.ts';
import { createProfileCommand } from './create.ts';
import { BALANCE, DEACTIVATED_PROFILE, PROFILE, UPDATED_PROFILE } from './examples.ts';
import { type Profile, presentBalance, presentIncoming, presentProfile } from './profile.ts';
import {
  AtQuery,
  BalanceList,
  BalanceShape,
  BalancesQuery,
  CreateProfileRequest,
  IncomingShape,
  ProfileAssetParams,
  ProfileList,
  ProfileShape,
  ProfilesQuery,
  UpdateProfileRequest,
} from './schema.ts';
import {
  databaseNow,
  defaultProfiles,
  findProfile,
  listProfiles,
  newProfiles,
  setAcceptedProfiles,
} from './store.ts';

export type ProfileDependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly assets: Assets;
  readonly endUsers: Table<EndUserFacts>;
};

export function profileRoutes(dependencies: ProfileDependencies): Route[] {
  return [
    ...recordRoutes(dependencies),
    ...changeRoutes(dependencies),
    incomingRoute(dependencies),
    ...balanceRoutes(dependencies),
  ];
}

async function profileOf(own: CustomerReads, id: string): Promise<Profile> {
  const profile = await findProfile(own, own.customerId, id);
  if (profile === undefined) throw notFound('profile', id);
  return profile;
}

function recordRoutes({ database, writePath, endUsers }: ProfileDependencies): Route[] {
  return [
    route({
      method: 'GET',
      tag: 'Profiles',
      path: '/v2/profiles',
      operationId: 'listProfiles',
      summary: 'List profiles',
      scope: 'funding:read_profile',
      query: ProfilesQuery,
      response: ProfileList,
      problems: [],
      answer: { items: [PROFILE] },
      async handle({ caller, query }) {
        const page = readPage(query, 'profiles');
        const rows = await listProfiles(database.of(caller.customerId), caller.customerId, query, page);
        return { body: await pageOf(rows, page, presentProfile) };
      },
    }),
    route({
      method: 'POST',
      tag: 'Profiles',
      path: '/v2/profiles',
      operationId: 'createProfile',
      summary: 'Create a profile',
      description:
        'The first profile that you create has the type DEFAULT, later ones NORMAL. If one of your profiles already has the nickname, the request is refused, and the problem contains that profile.',
      scope: 'funding:write_profile',
      body: CreateProfileRequest,
      example: { nickname: 'Treasury', description: 'Where customers are paid from' },
      response: ProfileShape,
      problems: ['not-found', 'already-exists', 'forbidden'],
      answer: PROFILE,
      handle: ({ caller, body }) =>
        createOnce(writePath, {
          command: createProfileCommand(caller, body, { endUsers, newProfiles, defaultProfiles }),
          load: (id) => findProfile(database.of(caller.customerId), caller.customerId, id),
          present: (profile) => presentProfile(profile) as never,
        }),
    }),
    route({
      method: 'GET',
      tag: 'Profiles',
      path: '/v2/profiles/{id}',
      operationId: 'getProfile',
      summary: 'Get a profile',
      scope: 'funding:read_profile',
      params: IdParams,
      response: ProfileShape,
      problems: ['not-found'],
      answer: PROFILE,
      handle: async ({ caller, params }) => ({
        body: presentProfile(await profileOf(database.of(caller.customerId), params.id)) as never,
      }),
    }),
  ];
}

function changeRoutes({ database, assets }: ProfileDependencies): Route[] {
  const common = {
    tag: 'Profiles',
    path: '/v2/profiles/{id}',
    scope: 'funding:write_profile',
    params: IdParams,
    response: ProfileShape,
  } as const;
  return [
    route({
      ...common,
      method: 'PUT',
      operationId: 'updateProfile',
      summary: 'Update a profile',
      description:
        'Changes the given fields; the others keep their values. A nickname that another of your profiles has is refused, and the problem contains that profile.',
      body: UpdateProfileRequest,
      example: { nickname: 'Operations', description: 'Where customers are paid from' },
      problems: ['not-found', 'already-exists'],
      answer: UPDATED_PROFILE,
      handle: async ({ caller, params, body }) => ({
        body: presentProfile(await updateProfile(database, caller, params.id, body)) as never,
      }),
    }),
    route({
      ...common,
      method: 'DELETE',
      operationId: 'deactivateProfile',
      summary: 'Deactivate a profile',
      description:
        'Nothing can be sent from or to the profile any more, and deposits that arrive for it wait for an operator. It can still be read, and keeps its nickname. A profile that has a balance, available or held, is refused. Only an operator can activate it again.',
      problems: ['not-found', 'invalid-state'],
      answer: DEACTIVATED_PROFILE,
      handle: async ({ caller, params }) => ({
        body: presentProfile(await deactivateProfile(database, assets, caller, params.id)) as never,
      }),
    }),
  ];
}

function incomingRoute({ database }: ProfileDependencies): Route {
  return route({
    method: 'PUT',
    tag: 'Profiles',
    path: '/v2/profiles/{id}/incoming',
    operationId: 'setProfileIncoming',
    summary: 'Choose who may pay a profile',
    description:
      'By default every customer may pay the profile and propose settlements to it. `LISTED` limits this to `profile_ids`; with an empty list, to your own profiles. Others get the answer for a profile that does not exist. Deposits, and transactions that you affirmed before, are not affected.',
    scope: 'funding:write_profile',
    params: IdParams,
    body: IncomingShape,
    example: { accepts_from: 'LISTED', profile_ids: [EXAMPLE_IDS.otherProfile] },
    response: IncomingShape,
    problems: ['not-found'],
    answer: { accepts_from: 'LISTED', profile_ids: [EXAMPLE_IDS.otherProfile] },
    async handle({ caller, params, body }) {
      const listed = body.accepts_from === 'LISTED';
      if (!listed && body.profile_ids !== undefined)
        throw invalidField('/profile_ids', 'must not be sent with accepts_from ANYONE');
      const accepted = listed ? (body.profile_ids ?? []) : null;
      const { customerId } = caller;
      const profile = await database.transaction((tx) =>
        setAcceptedProfiles(tx, customerId, params.id, accepted, actorOf(caller)),
      );
      if (profile === undefined) throw notFound('profile', params.id);
      return { body: presentIncoming(profile.acceptedProfileIds) as never };
    },
  });
}

function balanceRoutes({ database, assets }: ProfileDependencies): Route[] {
  const common = { method: 'GET', tag: 'Profiles', scope: 'funding:read_profile' } as const;

  /** The balances of all assets that the profile has ever had, now or at that time. */
  async function balances(
    own: CustomerReads,
    profileId: string,
    at: string | undefined,
  ): Promise<AssetBalance[]> {
    if (at === undefined) return balancesOf(own, profileId);
    const instant = parseComparable(at);
    if (instant === undefined) throw invalidField('/query/at', NOT_A_TIME);
    if (instant > (await databaseNow(own))) throw invalidField('/query/at', 'must not be in the future');
    return balancesAt(own, profileId, instant);
  }

  return [
    route({
      ...common,
      path: '/v2/profiles/{id}/balances',
      operationId: 'listBalances',
      summary: 'List the balances of a profile',
      description:
        'The balances of all assets that the profile has ever had; with `at`, as they were at that time.',
      params: IdParams,
      query: BalancesQuery,
      response: BalanceList,
      problems: ['not-found'],
      answer: { items: [BALANCE] },
      async handle({ caller, params, query }) {
        const own = database.of(caller.customerId);
        const profile = await profileOf(own, params.id);
        const { assets: wanted } = query;
        const all = await balances(own, profile.id, query.at);
        const found = wanted === undefined ? all : all.filter(({ asset }) => wanted.includes(asset));
        return { body: { items: found.map((balance) => presentBalance(balance, assets)) } };
      },
    }),
    route({
      ...common,
      path: '/v2/profiles/{id}/balances/{asset}',
      operationId: 'getBalance',
      summary: 'Get the balance of one asset',
      description: 'Zero for an asset that the profile has never had; with `at`, the balance at that time.',
      params: ProfileAssetParams,
      query: AtQuery,
      response: BalanceShape,
      problems: ['not-found'],
      answer: BALANCE,
      async handle({ caller, params, query }) {
        const { asset } = params;
        const own = database.of(caller.customerId);
        const profile = await profileOf(own, params.id);
        if (assets.find(asset) === undefined) throw notFound('asset', asset);
        const found = (await balances(own, profile.id, query.at)).find((balance) => balance.asset === asset);
        return { body: presentBalance(found ?? { asset, available: 0n, held: 0n }, assets) };
      },
    }),
  ];
}
