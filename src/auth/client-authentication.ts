import type { FastifyRequest } from 'fastify';
import type { Queryable } from '../database/database.ts';
import { addressRanges, isAddressRange, type SourceOf, sourceKey } from '../kernel/source-address.ts';
import type { CheckAssertion } from './assertions.ts';
import type { ClientLookup } from './client-lookup.ts';
import { type Authenticable, replaceHash } from './credential-store.ts';
import type { Failures } from './failures.ts';
import { isScryptHash, type ScryptChecker } from './scrypt-secrets.ts';
import { type Credentials, type HashSecret, isClientId, isSameHash } from './secrets.ts';
import { invalidClient, type Proof, TokenError } from './token-request.ts';

export type AuthenticationParts = {
  readonly database: Queryable;
  readonly lookup: ClientLookup;
  readonly hashSecret: HashSecret;
  readonly scrypt: ScryptChecker;
  readonly checkAssertion: CheckAssertion;
  readonly failures: Failures;
  readonly sourceOf: SourceOf;
};

/** A secret in the old form is replaced by its keyed hash once it has proved right. */
async function isOldSecret(
  { database, hashSecret, scrypt }: AuthenticationParts,
  client: Authenticable,
  credentials: Credentials,
  source: string,
): Promise<boolean> {
  for (const { id, hash } of client.secrets) {
    if (!isScryptHash(hash) || !(await scrypt.check(credentials.clientSecret, hash, source))) continue;
    await replaceHash(database, id, hash, hashSecret(credentials));
    return true;
  }
  return false;
}

async function checkSecret(
  parts: AuthenticationParts,
  client: Authenticable | undefined,
  credentials: Credentials,
  source: string,
): Promise<void> {
  // For an unknown client as well, which then takes as long as a known one.
  const hash = parts.hashSecret(credentials);
  const secrets = client?.secrets ?? [];
  const isRight =
    secrets.some((secret) => isSameHash(secret.hash, hash)) ||
    (client !== undefined && (await isOldSecret(parts, client, credentials, source)));
  if (!isRight) throw invalidClient('The client is unknown or the secret is wrong.');
}

/** Credentials are checked before anything is refused for too many failures: a right login is never refused. */
async function checkProof(
  parts: AuthenticationParts,
  client: Authenticable | undefined,
  proof: Proof,
  source: string,
  request: FastifyRequest,
): Promise<void> {
  try {
    if ('assertion' in proof) await parts.checkAssertion(proof.assertion, client);
    else await checkSecret(parts, client, proof, source);
  } catch (error) {
    if (!(error instanceof TokenError) || error.code !== 'invalid_client') throw error;
    const waitSeconds = parts.failures.count(source);
    if (waitSeconds > 0) {
      const description = `${error.message} Too many failed attempts from this address: wait ${waitSeconds} seconds.`;
      throw new TokenError('temporarily_unavailable', description, 429, waitSeconds);
    }
    // Not for every attempt, so that an attack does not fill the log. An unknown id is not logged at all, because people
    // paste secrets into the wrong field.
    request.log.warn(
      { client_id: client?.id ?? null, source, request_id: request.id },
      'token request with wrong credentials',
    );
    throw error;
  }
}

/** The client that sends the request, or an error of OAuth. */
export async function authenticateClient(
  parts: AuthenticationParts,
  proof: Proof,
  request: FastifyRequest,
): Promise<Authenticable> {
  const address = parts.sourceOf(request.raw.socket, request.headers['x-forwarded-for']);
  const client = isClientId(proof.clientId) ? await parts.lookup(proof.clientId) : undefined;
  await checkProof(parts, client, proof, sourceKey(address), request);
  // Only a caller with the right credentials learns these.
  const { isDisabled, allowedAddresses } = client!;
  if (isDisabled) throw invalidClient('The client is disabled.');
  if (allowedAddresses !== null) {
    const ranges = addressRanges(allowedAddresses.filter(isAddressRange));
    if (address === undefined || !ranges.has(address))
      throw invalidClient(`The client may not be used from the address ${address ?? 'of this connection'}.`);
  }
  return client!;
}
