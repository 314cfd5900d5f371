import { setIdentityStatus } from '../../src/identity/store.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { setProfileStatus } from '../../src/profiles/store.ts';
import { type Belongings, createBelongings, type Operation } from '../support/openapi.ts';
import type { Access } from './access.ts';
import type { Party, Stage } from './stage.ts';

/** Records of a customer by their kind, in all states: the part of a path before an id, such as `profiles`. */
export type Records = Readonly<Record<string, readonly string[]>>;

export type Inhabitant = {
  readonly party: Party;
  readonly belongings: Belongings;
  readonly records: Records;
  /** A cursor of each list that has more than one page, by the path of the list. */
  readonly cursors: Readonly<Record<string, string>>;
};

/** Who is there: the caller, a customer whose records the caller must not learn of, and one who trades with both. */
export type World = {
  readonly caller: Inhabitant;
  readonly victim: Inhabitant;
  readonly access: Access;
  /** Profiles and identities of the victim that do not exist for anybody else, although they may be paid otherwise. */
  readonly hidden: Records;
  /** Texts that no answer to the caller may contain. */
  readonly secrets: Readonly<Record<string, string>>;
  /** A settlement transaction that the caller may affirm. */
  createAffirmable(): Promise<string>;
};

/** In every free text of the victim. */
const MARK = 'Zwickmühle';
const FREE_TEXTS = new Set([
  'nickname',
  'description',
  'memo',
  'first_name',
  'last_name',
  'bank_name',
  'address1',
  'city',
]);
const FUNDS = { USD: '100000000', BTC: '100000' };

function marked(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(marked);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      FREE_TEXTS.has(name) && typeof one === 'string' ? `${MARK} ${one}` : marked(one),
    ]),
  );
}

async function succeed(party: Party, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await party.call(method, path, body);
  if (answer.status !== 200)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Settlements of a run are not due before it ends. */
export const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString();

let nicknames = 0;

async function createProfile(party: Party, balances: Record<string, string> = {}): Promise<string> {
  nicknames += 1;
  const { id } = await succeed(party, 'POST', '/v2/profiles', { nickname: `Profile ${nicknames}` });
  for (const [asset, amount] of Object.entries(balances)) {
    const network = asset === 'USD' ? {} : { crypto_network: 'BITCOIN' };
    await succeed(party, 'POST', `/v2/sandbox/profiles/${id}/deposit`, { asset, amount, ...network });
  }
  return id;
}

/** Records in every state that they can have. */
async function createRecords(
  stage: Stage,
  party: Party,
  partner: Party,
  { make, fields }: Belongings,
): Promise<Record<string, string[]>> {
  const records: Record<string, string[]> = {};
  for (const [kind, makeOne] of Object.entries(make)) records[kind] = [await makeOne(), await makeOne()];
  const add = async (kind: string, change: (id: string) => Promise<unknown>): Promise<void> => {
    const id = await make[kind]!();
    await change(id);
    records[kind]!.push(id);
  };
  const post = (path: string) => succeed(party, 'POST', path, {});
  const remove = (path: string) => succeed(party, 'DELETE', path);
  await add('profiles', (id) =>
    stage.database.transaction((tx) => setProfileStatus(tx, id, 'DISABLED', cliActor('tester'))),
  );
  await add('profiles', (id) =>
    succeed(party, 'PUT', `/v2/profiles/${id}/incoming`, { accepts_from: 'LISTED', profile_ids: [] }),
  );
  await add('identities', (id) =>
    stage.database.transaction((tx) => setIdentityStatus(tx, id, 'DISABLED', cliActor('tester'))),
  );
  await add('fiat-accounts', (id) => post(`/v2/sandbox/fiat-accounts/${id}/approve`));
  await add('fiat-accounts', (id) => post(`/v2/sandbox/fiat-accounts/${id}/reject`));
  await add('fiat-accounts', (id) => remove(`/v2/transfer/fiat-accounts/${id}`));
  await add('account-members', (id) => remove(`/v2/identity/account-members/${id}`));
  await add('webhooks', (id) => remove(`/v2/events/webhooks/${id}`));
  await add('transactions', (id) => remove(`/v2/settlement/transactions/${id}`));
  await add('transactions', (id) => succeed(partner, 'PUT', `/v2/settlement/transactions/${id}/affirm`));
  records.fees = [fields.fee_id!];
  const transfer = await succeed(party, 'POST', '/v2/transfer/internal', {
    from_profile_id: fields.from_profile_id,
    to_profile_id: fields.to_profile_id,
    asset: 'USD',
    amount: '1',
  });
  records.groups = [transfer.group_id];
  records.transfers!.push(transfer.id);
  return records;
}

/** Values of the parameters that a list cannot do without. */
const NEEDED: Readonly<Record<string, string>> = { account: 'clearing:wire' };

function needed(parameters: Operation['parameters']): string {
  const names = parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => name);
  return names.map((name) => `&${name}=${NEEDED[name]}`).join('');
}

async function readCursors(stage: Stage, party: Party): Promise<Record<string, string>> {
  const lists = stage.description.operations.filter(
    ({ method, path, parameters }) =>
      method === 'GET' &&
      !path.includes('{') &&
      ['page_cursor', 'limit'].every((wanted) => parameters.some(({ name }) => name === wanted)),
  );
  const cursors: Record<string, string> = {};
  for (const { path, parameters } of lists) {
    const { next_page_cursor: cursor } = await succeed(party, 'GET', `${path}?limit=1${needed(parameters)}`);
    if (typeof cursor === 'string') cursors[path] = cursor;
  }
  return cursors;
}

async function settle(stage: Stage, party: Party, partner: Party): Promise<Inhabitant> {
  const service = {
    database: stage.database,
    description: stage.description,
    createProfile: (owner: { id: string }, balances?: Record<string, string>) =>
      createProfile(owner.id === party.id ? party : partner, balances === undefined ? {} : FUNDS),
  };
  const belongings = await createBelongings(service, party, partner);
  const records = await createRecords(stage, party, partner, belongings);
  return { party, belongings, records, cursors: await readCursors(stage, party) };
}

export async function createWorld(stage: Stage): Promise<World> {
  const partner = await stage.createParty('Partner');
  const plain = await stage.createParty('Victim');
  const victimParty: Party = {
    ...plain,
    call: (method, path, body) => plain.call(method, path, marked(body)),
  };
  const victim = await settle(stage, victimParty, partner);
  const caller = await settle(stage, await stage.createParty('Caller'), partner);
  const [, , disabled, refusing] = victim.records.profiles!;
  const partnersProfile = await createProfile(partner, FUNDS);
  return {
    async createAffirmable() {
      const { id } = await succeed(partner, 'POST', '/v2/settlement/transactions', {
        source_profile_id: partnersProfile,
        target_profile_id: caller.belongings.fields.profile_id,
        legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
        settlement_window_start: tomorrow(),
      });
      return id;
    },
    caller,
    victim,
    access: await stage.accessOf(caller.party),
    hidden: { profiles: [disabled!, refusing!], identities: [victim.records.identities![2]!] },
    secrets: {
      'a text of another customer': MARK,
      'the secret of a client': caller.party.clientSecret,
      'the secret of another client': plain.clientSecret,
      'the secret of the partner': partner.clientSecret,
    },
  };
}
