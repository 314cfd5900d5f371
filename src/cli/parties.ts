import {
  createClient,
  createCustomer,
  disableClient,
  enableClient,
  knownCustomer,
  limitCustomer,
  listClients,
  listCustomers,
  registerClient,
  rotateKey,
} from '../auth/administration.ts';
import { CUSTOMER_SCOPES, isSimulation, SCOPE_NAMES } from '../auth/scopes.ts';
import { newClientId } from '../auth/secrets.ts';
import { isId } from '../kernel/id.ts';
import { formatInstant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { rewrap, vaultOf } from '../vault.ts';
import {
  CommandError,
  type CommandLine,
  counted,
  type Invocation,
  noArguments,
  show,
  table,
  text,
  UsageError,
  withDatabase,
} from './command-line.ts';
import { waits } from './four-eyes.ts';

export function scopesIn(production: boolean, scopes: readonly string[]): string[] {
  return scopes.filter((scope) => !(production && isSimulation(scope)));
}

/** Those that the command names. */
export function scopesOf(invocation: Invocation): readonly string[] | undefined {
  const scopes = invocation.options.scope as string[] | undefined;
  const isProduction = invocation.config.mode === 'production';
  const simulated = scopes?.find((scope) => isProduction && isSimulation(scope));
  if (simulated !== undefined) throw new CommandError(`The scope "${simulated}" exists in the sandbox only.`);
  return scopes;
}

function personId(id: string): string {
  if (!isId(id)) throw new UsageError(`--owner must be the id of a person, not "${String(id)}".`);
  return id;
}

/** With the id of a client of an external issuer, which needs no secret here; otherwise with a new id and secret. */
async function addClient(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  const { config, options } = invocation;
  const scopes = scopesOf(invocation) ?? scopesIn(config.mode === 'production', CUSTOMER_SCOPES);
  const owner: { ownerPersonId?: string } =
    options.owner === undefined ? {} : { ownerPersonId: personId(text(invocation, 'owner')) };
  const request = {
    customer: text(invocation, 'customer'),
    name: text(invocation, 'name'),
    scopes,
    ...owner,
  };
  return withDatabase(invocation, async (database) => {
    const { id: customerId } = await knownCustomer(database, request.customer);
    const asked = {
      client_id: options.id === undefined ? newClientId() : text(invocation, 'id'),
      customer_id: customerId,
      name: request.name,
      scopes,
      ...(owner.ownerPersonId !== undefined && { owner_person_id: owner.ownerPersonId }),
      has_secret: options.id === undefined,
    };
    if (await waits(invocation, database, ({ clients }) => clients.create, asked)) return 0;
    if (options.id !== undefined) {
      const clientId = text(invocation, 'id');
      await registerClient(database, { ...request, clientId });
      show(invocation, { client_id: clientId, scopes }, `Registered ${clientId}.`);
      return 0;
    }
    const made = await createClient(database, await vaultOf(config, database), request);
    const data = { client_id: made.clientId, client_secret: made.clientSecret, scopes };
    const lines = [
      `client_id      ${made.clientId}`,
      `client_secret  ${made.clientSecret}`,
      'Store the secret now: it is not shown again.',
    ];
    show(invocation, data, lines.join('\n'));
    return 0;
  });
}

function switchCommand(verb: 'disable' | 'enable'): CommandLine {
  return {
    name: `client ${verb}`,
    summary:
      verb === 'disable'
        ? 'disable an API client; takes effect within 10 seconds'
        : 'enable an API client again, with the scopes and credentials that it had',
    usage: `client ${verb} <client_id> [--json]`,
    json: true,
    async run(invocation) {
      const [clientId, extra] = invocation.positionals;
      if (clientId === undefined || extra !== undefined) throw new UsageError('Expected one client_id.');
      return withDatabase(invocation, async (database) => {
        if (await waits(invocation, database, ({ clients }) => clients[verb], { client_id: clientId }))
          return 0;
        await (verb === 'disable' ? disableClient : enableClient)(database, clientId);
        const data = { client_id: clientId, disabled: verb === 'disable' };
        show(invocation, data, `${verb === 'disable' ? 'Disabled' : 'Enabled'} ${clientId}.`);
        return 0;
      });
    },
  };
}

/** Customers, their API clients, and the key that signs access tokens. */
export const PARTY_COMMANDS: readonly CommandLine[] = [
  {
    name: 'customer create',
    summary: 'create a customer',
    usage: 'customer create --name <name> [--third-party] [--json]',
    options: {
      name: { value: 'name', help: 'unique name of the customer' },
      'third-party': { help: 'acts for end users, and must name them in its requests' },
    },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const name = text(invocation, 'name');
      const integration = invocation.options['third-party'] === true ? 'THIRD_PARTY' : 'FIRST_PARTY';
      return withDatabase(
        invocation,
        async (database) => {
          const customer = await createCustomer(database, { name, integration });
          const data = { id: customer.id, name: customer.name, integration: customer.integration };
          show(invocation, data, `Created customer ${customer.name}: ${customer.id}`);
          return 0;
        },
        { mayMake: true },
      );
    },
  },
  {
    name: 'customer list',
    summary: 'list the customers',
    usage: 'customer list [--json]',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        const customers = await listCustomers(database);
        const data = customers.map(({ id, name, integration, pointsPerSecond, createdAtNs }) => ({
          id,
          name,
          integration,
          points_per_second: pointsPerSecond ?? LIMITS.customerPointsPerSecond,
          created_at: formatInstant(createdAtNs),
        }));
        const rows = data.map((one) => [one.id, one.integration, `${one.points_per_second}`, one.name]);
        show(invocation, data, table([['ID', 'INTEGRATION', 'POINTS/S', 'NAME'], ...rows]));
        return 0;
      });
    },
  },
  {
    name: 'customer limit',
    summary: 'set the rate limit of a customer; takes effect within 10 seconds',
    usage: 'customer limit <id or name> --points <number or default> [--json]',
    details: [
      'A request costs one point; a page of a list one more for every 13 rows, and a large body one more for every 4 KB.',
      `The default is ${LIMITS.customerPointsPerSecond} points per second on each node. Each client of the customer may use half of it.`,
    ].join('\n'),
    options: { points: { value: 'number', help: 'points per second, or "default"' } },
    json: true,
    async run(invocation) {
      const [customer, extra] = invocation.positionals;
      if (customer === undefined || extra !== undefined)
        throw new UsageError('Expected the id or name of one customer.');
      const points = text(invocation, 'points');
      return withDatabase(invocation, async (database) => {
        const { id, name, pointsPerSecond } = await limitCustomer(
          database,
          customer,
          points === 'default' ? null : Number(points),
        );
        const rate = pointsPerSecond ?? LIMITS.customerPointsPerSecond;
        show(invocation, { id, points_per_second: rate }, `${name} may use ${rate} points per second.`);
        return 0;
      });
    },
  },
  {
    name: 'client create',
    summary: 'create an API client for a customer and print its secret once',
    usage:
      'client create --customer <id or name> --name <name> [--scope <scope> …] [--owner <person id>] [--id <client_id>] [--json]',
    details: (production) =>
      [
        'Without --scope the client gets every scope except those of operators, which cover all customers. Scopes:',
        ...scopesIn(production, SCOPE_NAMES),
      ].join('\n  '),
    options: {
      customer: { value: 'id or name', help: 'the customer that the client belongs to' },
      name: { value: 'name', help: 'label of the client' },
      scope: { value: 'scope', multiple: true, help: 'a scope that the client may request; can be repeated' },
      owner: { value: 'person id', help: 'the person who owns it: counts as that person in approvals' },
      id: { value: 'client_id', help: 'register a client of your external issuer; it gets no secret' },
    },
    json: true,
    run: addClient,
  },
  {
    name: 'client list',
    summary: 'list the API clients',
    usage: 'client list [--customer <id or name>] [--json]',
    options: { customer: { value: 'id or name', help: 'only the clients of this customer' } },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        const customer = invocation.options.customer as string | undefined;
        const clients = await listClients(database, customer === undefined ? {} : { customer });
        const data = clients.map((client) => ({
          client_id: client.id,
          customer_id: client.customerId,
          name: client.name,
          scopes: client.scopes,
          allowed_addresses: client.allowedAddresses,
          owner_person_id: client.ownerPersonId,
          created_at: formatInstant(client.createdAtNs),
          disabled_at: client.disabledAtNs === null ? null : formatInstant(client.disabledAtNs),
        }));
        const rows = data.map((one) => [
          one.client_id,
          one.customer_id,
          one.disabled_at === null ? 'active' : 'disabled',
          one.name,
        ]);
        show(invocation, data, table([['CLIENT', 'CUSTOMER', 'STATE', 'NAME'], ...rows]));
        return 0;
      });
    },
  },
  switchCommand('disable'),
  switchCommand('enable'),
  {
    name: 'key rotate',
    summary: 'create a new key for signing tokens; existing tokens stay valid',
    usage: 'key rotate [--distrust-old] [--json]',
    options: {
      'distrust-old': {
        help: 'for a leaked key: existing tokens become invalid within 10 seconds',
      },
    },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        await vaultOf(invocation.config, database);
        const distrustOld = invocation.options['distrust-old'] === true;
        const { kid } = await rotateKey(database, { distrustOld });
        show(invocation, { kid }, `New tokens are signed with the key ${kid}.`);
        return 0;
      });
    },
  },
  {
    name: 'key rewrap',
    summary:
      'seal the data keys with FERRY_SECRET_KEY, so that FERRY_SECRET_KEY_PREVIOUS is no longer needed',
    usage: 'key rewrap [--json]',
    details: [
      'To replace the key without a stop: start every node with the new key as FERRY_SECRET_KEY and the old one as',
      'FERRY_SECRET_KEY_PREVIOUS, run this command with both, then start the nodes without FERRY_SECRET_KEY_PREVIOUS.',
      'Only the data keys are rewritten, whatever the size of the database.',
    ].join('\n'),
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        const count = await rewrap(invocation.config, database);
        show(invocation, { rewrapped: count }, `Rewrapped ${counted(count, 'data key')}.`);
        return 0;
      });
    },
  },
];
