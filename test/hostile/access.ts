import { createHmac } from 'node:crypto';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import { trustedKeys } from '../../src/auth/store.ts';
import type { Database } from '../../src/database/database.ts';
import type { Random } from './random.ts';

/** The Authorization headers of a run, by what is wrong with them. */
export type Access = {
  readonly full: string;
  /** Of a customer that acts for end users: what is required of its requests differs, and nothing here belongs to it. */
  readonly thirdParty: string;
  /** All scopes but one, by that one. */
  readonly lacking: Readonly<Record<string, string>>;
  /** Every one of them must be answered with 401. */
  readonly refused: Readonly<Record<string, string | undefined>>;
};

type Issue = (scope: string | undefined) => Promise<string>;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Tokens with one mistake each. `token` is a valid one; those that need it are signed with the service's own key. */
async function wrongTokens(database: Database, token: string): Promise<Record<string, string | undefined>> {
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload;
  const head = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string; kid: string };
  const key = (await trustedKeys(database, 0n)).find(({ id }) => id === head.kid)!;
  const privateKey = await importJWK(key.privateJwk, head.alg);
  const signed = (changes: object, protectedHeader: object = {}): Promise<string> =>
    new SignJWT({ ...claims, ...changes })
      .setProtectedHeader({ ...head, ...protectedHeader })
      .sign(privateKey);
  const hmac = (secret: string): string => {
    const signedPart = `${encoded({ ...head, alg: 'HS256' })}.${payload}`;
    return `${signedPart}.${createHmac('sha256', secret).update(signedPart).digest('base64url')}`;
  };
  const nowSeconds = claims.iat!;
  const hour = 3_600;
  return {
    'expired token': await signed({ iat: nowSeconds - 2 * hour, exp: nowSeconds - hour }),
    'token that expires too late': await signed({ iat: nowSeconds - 2 * hour, exp: nowSeconds + 100 * hour }),
    'token from the future': await signed({ iat: nowSeconds + hour, exp: nowSeconds + 2 * hour }),
    'token of another issuer': await signed({ iss: 'https://evil.example' }),
    'token for another audience': await signed({ aud: 'https://evil.example' }),
    'token without a client': await signed({ client_id: undefined }),
    'token of an unknown client': await signed({ client_id: 'client-x', sub: 'client-x' }),
    'token without an id': await signed({ jti: undefined }),
    'token with a list of scopes': await signed({ scope: ['transfer:read_transfer'] }),
    'token of another type': await signed({}, { typ: 'JWT' }),
    'token of an unknown key': await signed({}, { kid: 'x'.repeat(43) }),
    'token without a signature': `${encoded({ ...head, alg: 'none' })}.${payload}.`,
    'token with a cut signature': `${header}.${payload}.${signature.slice(0, -4)}`,
    'token with another signature': `${header}.${payload}.${signature.slice(4)}${signature.slice(0, 4)}`,
    'token with changed claims': `${header}.${encoded({ ...claims, scope: `${String(claims.scope)} ` })}.${signature}`,
    'token signed with the public key': hmac(key.publicJwk.x as string),
    'token that is no JWT': 'x.y.z',
    'token of 8,300 characters': 'x'.repeat(8_300),
    'token of an object': `${encoded({ alg: {} })}.${encoded([])}.x`,
  };
}

/** `revoke` makes a token invalid; the other tokens are of a disabled client, and of a third-party integration. */
export async function createAccess(
  database: Database,
  scopes: readonly string[],
  issue: Issue,
  revoke: (token: string) => Promise<void>,
  others: { readonly disabled: string; readonly thirdParty: string },
): Promise<Access> {
  const full = await issue(undefined);
  const lacking: Record<string, string> = {};
  for (const scope of scopes)
    lacking[scope] = `Bearer ${await issue(scopes.filter((one) => one !== scope).join(' '))}`;
  const revoked = await issue(undefined);
  await revoke(revoked);
  const wrong = Object.entries({
    ...(await wrongTokens(database, full)),
    'revoked token': revoked,
    'token of a disabled client': others.disabled,
  });
  return {
    full: `Bearer ${full}`,
    thirdParty: `Bearer ${others.thirdParty}`,
    lacking,
    refused: {
      'no token': undefined,
      'empty header': '',
      'no bearer': full,
      'bearer without a token': 'Bearer',
      'two tokens in one header': `Bearer ${full} ${full}`,
      'basic header': `Basic ${btoa('a:b')}`,
      'token in quotes': `Bearer "${full}"`,
      'token after a comma': `Bearer x, Bearer ${full}`,
      ...Object.fromEntries(wrong.map(([name, token]) => [name, `Bearer ${token}`])),
    },
  };
}

export type ChosenAccess = {
  readonly name: string;
  readonly header: string | undefined;
  /** Undefined if the token is sufficient. */
  readonly refusedWith?: 401 | 403;
};

export const fullAccess = ({ full }: Access): ChosenAccess => ({ name: 'full access', header: full });

export function lackingAccess({ lacking }: Access, scopes: readonly string[], random: Random): ChosenAccess {
  return { name: 'lacks the scope', header: lacking[random.pick(scopes)]!, refusedWith: 403 };
}

export function refusedAccess({ refused }: Access, random: Random): ChosenAccess {
  const name = random.pick(Object.keys(refused));
  return { name, header: refused[name], refusedWith: 401 };
}

export function chooseAccess(access: Access, scopes: readonly string[], random: Random): ChosenAccess {
  const choice = random.next();
  if (choice < 0.65) return fullAccess(access);
  if (choice < 0.7) return { name: 'third-party integration', header: access.thirdParty };
  return choice < 0.86 ? lackingAccess(access, scopes, random) : refusedAccess(access, random);
}
