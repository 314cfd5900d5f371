import { readFileSync } from 'node:fs';
import {
  addKeys,
  addSecret,
  allowAddresses,
  changeScopes,
  listKeys,
  listSecrets,
  readableKeys,
  removeKey,
  removeSecret,
} from '../auth/credentials.ts';
import { SCOPE_NAMES } from '../auth/scopes.ts';
import { formatInstant, type Instant, parseInstant } from '../kernel/instant.ts';
import { vaultOf } from '../vault.ts';
import {
  CommandError,
  type CommandLine,
  type Invocation,
  show,
  table,
  UsageError,
  withDatabase,
} from './command-line.ts';
import { waits } from './four-eyes.ts';
import { scopesIn, scopesOf } from './parties.ts';

/** What a client authenticates with, what it may do, and where from. */

function argumentsOf({ positionals }: Invocation, ...names: readonly string[]): string[] {
  if (positionals.length !== names.length) throw new UsageError(`Expected ${names.join(' and ')}.`);
  return [...positionals];
}

/** A date means its beginning in UTC. */
function expiryOf({ options }: Invocation): Instant | null {
  const { expires } = options;
  if (expires === undefined) return null;
  const instant = parseInstant(
    /^[0-9-]{10}$/.test(String(expires)) ? `${String(expires)}T00:00:00Z` : expires,
  );
  if (instant === undefined) {
    throw new UsageError(
      `--expires must be a date or an RFC 3339 time, such as 2027-01-31 or 2027-01-31T12:00:00Z, not "${String(expires)}".`,
    );
  }
  return instant;
}

const timeOf = (instant: Instant | null): string | null => (instant === null ? null : formatInstant(instant));

const FORCE = { force: { help: 'even if the client cannot authenticate any more without it' } };

const SECRET_COMMANDS: readonly CommandLine[] = [
  {
    name: 'client secret add',
    summary: 'add a second secret to a client and print it once',
    usage: 'client secret add <client_id> [--expires <time>] [--json]',
    details: [
      'Both secrets work until you remove one of them, so a secret is replaced without downtime: add the new one, give it to',
      'all callers, then remove the old one.',
    ].join('\n'),
    options: { expires: { value: 'time', help: 'from then on the secret is refused; without it, never' } },
    json: true,
    async run(invocation) {
      const [clientId] = argumentsOf(invocation, 'one client_id');
      const expiresAtNs = expiryOf(invocation);
      return withDatabase(invocation, async (database) => {
        const vault = await vaultOf(invocation.config, database);
        const until = timeOf(expiresAtNs);
        const asked = { client_id: clientId!, ...(until !== null && { expires_at: until }) };
        if (await waits(invocation, database, ({ clients }) => clients.addCredentials, asked)) return 0;
        const { id, clientSecret } = await addSecret(database, vault, clientId!, expiresAtNs);
        const expires = timeOf(expiresAtNs);
        const data = { client_id: clientId, secret_id: id, client_secret: clientSecret, expires_at: expires };
        const lines = [
          `secret_id      ${id}`,
          `client_secret  ${clientSecret}`,
          'Store the secret now: it is not shown again.',
        ];
        show(invocation, data, lines.join('\n'));
        return 0;
      });
    },
  },
  {
    name: 'client secret list',
    summary: 'list the secrets of a client, without the secrets themselves',
    usage: 'client secret list <client_id> [--json]',
    json: true,
    async run(invocation) {
      const [clientId] = argumentsOf(invocation, 'one client_id');
      return withDatabase(invocation, async (database) => {
        const data = (await listSecrets(database, clientId!)).map(({ id, createdAtNs, expiresAtNs }) => ({
          secret_id: id,
          created_at: formatInstant(createdAtNs),
          expires_at: timeOf(expiresAtNs),
        }));
        const rows = data.map((one) => [one.secret_id, one.created_at, one.expires_at ?? 'never']);
        show(invocation, data, table([['SECRET', 'CREATED', 'EXPIRES'], ...rows]));
        return 0;
      });
    },
  },
  {
    name: 'client secret remove',
    summary: 'remove a secret of a client; takes effect at once',
    usage: 'client secret remove <client_id> <secret_id> [--force] [--json]',
    details: 'Tokens that were issued before stay valid until they expire, for up to an hour.',
    options: FORCE,
    json: true,
    async run(invocation) {
      const [clientId, secretId] = argumentsOf(invocation, 'a client_id', 'a secret_id');
      return withDatabase(invocation, async (database) => {
        const asked = { client_id: clientId!, credential_id: secretId! };
        if (await waits(invocation, database, ({ clients }) => clients.removeCredential, asked)) return 0;
        await removeSecret(database, clientId!, secretId!, { force: invocation.options.force === true });
        const data = { client_id: clientId, secret_id: secretId, removed: true };
        show(invocation, data, `Removed the secret ${secretId}.`);
        return 0;
      });
    },
  },
];

function readKeyFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new CommandError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

const KEY_COMMANDS: readonly CommandLine[] = [
  {
    name: 'client key add',
    summary: 'add public keys with which a client authenticates by private_key_jwt',
    usage: 'client key add <client_id> <file> [--json]',
    details: [
      'The file has a public JSON Web Key, or a set of them: Ed25519, P-256, or RSA with 2048 to 4096 bits. - is standard input.',
      'A key without a kid gets its thumbprint (RFC 7638) as its id.',
    ].join('\n'),
    json: true,
    async run(invocation) {
      const [clientId, path] = argumentsOf(invocation, 'a client_id', 'a file');
      const text = readKeyFile(path!);
      return withDatabase(invocation, async (database) => {
        const keys = (await readableKeys(text)) as Record<string, unknown>[];
        const asked = { client_id: clientId!, keys };
        if (await waits(invocation, database, ({ clients }) => clients.addCredentials, asked)) return 0;
        const kids = await addKeys(database, clientId!, text);
        show(
          invocation,
          { client_id: clientId, kids },
          kids.map((kid) => `Added the key ${kid}.`).join('\n'),
        );
        return 0;
      });
    },
  },
  {
    name: 'client key list',
    summary: 'list the public keys of a client',
    usage: 'client key list <client_id> [--json]',
    json: true,
    async run(invocation) {
      const [clientId] = argumentsOf(invocation, 'one client_id');
      return withDatabase(invocation, async (database) => {
        const data = (await listKeys(database, clientId!)).map(({ kid, jwk, createdAtNs }) => ({
          kid,
          jwk,
          created_at: formatInstant(createdAtNs),
        }));
        const rows = data.map((one) => [one.kid, one.jwk.crv ?? one.jwk.kty ?? '', one.created_at]);
        show(invocation, data, table([['KEY', 'KIND', 'CREATED'], ...rows]));
        return 0;
      });
    },
  },
  {
    name: 'client key remove',
    summary: 'remove a public key of a client; takes effect at once',
    usage: 'client key remove <client_id> <kid> [--force] [--json]',
    details: 'Tokens that were issued before stay valid until they expire, for up to an hour.',
    options: FORCE,
    json: true,
    async run(invocation) {
      const [clientId, kid] = argumentsOf(invocation, 'a client_id', 'a kid');
      return withDatabase(invocation, async (database) => {
        const asked = { client_id: clientId!, credential_id: kid! };
        if (await waits(invocation, database, ({ clients }) => clients.removeCredential, asked)) return 0;
        await removeKey(database, clientId!, kid!, { force: invocation.options.force === true });
        show(invocation, { client_id: clientId, kid, removed: true }, `Removed the key ${kid}.`);
        return 0;
      });
    },
  },
];

const PERMISSION_COMMANDS: readonly CommandLine[] = [
  {
    name: 'client allow',
    summary: 'restrict a client to addresses; takes effect within 10 seconds',
    usage: 'client allow <client_id> <address or range> … | --clear [--json]',
    details: [
      'Replaces the list. From any other address the client gets no tokens, and its tokens are refused. Behind a proxy, set',
      'FERRY_TRUSTED_PROXIES: otherwise all requests come from the proxy.',
    ].join('\n'),
    options: { clear: { help: 'allow every address again' } },
    json: true,
    async run(invocation) {
      const [clientId, ...ranges] = invocation.positionals;
      const isCleared = invocation.options.clear === true;
      if (clientId === undefined || isCleared === ranges.length > 0)
        throw new UsageError('Expected a client_id, and either addresses or --clear.');
      return withDatabase(invocation, async (database) => {
        const asked = { client_id: clientId, allowed_addresses: isCleared ? [] : ranges };
        if (await waits(invocation, database, ({ clients }) => clients.change, asked)) return 0;
        await allowAddresses(database, clientId, isCleared ? null : ranges);
        const sentence = isCleared ? 'from any address' : `from ${ranges.join(', ')} only`;
        const data = { client_id: clientId, allowed_addresses: isCleared ? null : ranges };
        show(invocation, data, `${clientId} may be used ${sentence}.`);
        return 0;
      });
    },
  },
  {
    name: 'client scopes',
    summary: 'replace the scopes of a client; takes effect within 10 seconds',
    usage: 'client scopes <client_id> --scope <scope> … [--json]',
    details: (production) =>
      [
        'A scope that the client loses is lost for the tokens that it has, too. One that it gains needs a new token. Scopes:',
        ...scopesIn(production, SCOPE_NAMES),
      ].join('\n  '),
    options: {
      scope: { value: 'scope', multiple: true, help: 'a scope that the client may request; can be repeated' },
    },
    json: true,
    async run(invocation) {
      const [clientId] = argumentsOf(invocation, 'one client_id');
      const scopes = scopesOf(invocation);
      if (scopes === undefined) throw new UsageError('--scope is required.');
      return withDatabase(invocation, async (database) => {
        const asked = { client_id: clientId!, scopes };
        if (await waits(invocation, database, ({ clients }) => clients.change, asked)) return 0;
        const client = await changeScopes(database, clientId!, scopes);
        const data = { client_id: clientId, scopes: client.scopes };
        show(invocation, data, `${clientId} may request: ${client.scopes.join(' ')}.`);
        return 0;
      });
    },
  },
];

export const CREDENTIAL_COMMANDS: readonly CommandLine[] = [
  ...SECRET_COMMANDS,
  ...KEY_COMMANDS,
  ...PERMISSION_COMMANDS,
];
