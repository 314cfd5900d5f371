import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Database, Transaction } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import { invalidField } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Challenges, Purpose } from './challenges.ts';
import {
  advanceCounter,
  insertPasskey,
  passkeyByCredential,
  passkeysOf,
  useChallenge,
} from './passkey-store.ts';
import type { Passkey, Person } from './person.ts';
import type { Place } from './place.ts';
import { labelFault, tooManyPasskeys } from './rules.ts';
import { refused } from './sign-in.ts';

/** Loaded when the first person signs in: it has a hundred modules, and most nodes only ever see clients. */
const webAuthn = () => import('@simplewebauthn/server');

/** What a ceremony is for: the session or the person in whose name the challenge was made. */
export type Ceremony = { readonly purpose: Purpose; readonly subject: string };

/** A valid answer, not yet written down. */
export type Asserted = { readonly passkey: Passkey; commit(tx: Transaction): Promise<void> };
export type Registered = { commit(tx: Transaction, person: Person, name: string): Promise<void> };

export type Passkeys = {
  /** Options for `navigator.credentials.get`. Without credentials: the person chooses among those of the device. */
  assertionOptions(ceremony: Ceremony): Promise<object>;
  /** Options for `navigator.credentials.create`. */
  registrationOptions(ceremony: Ceremony, person: Person): Promise<object>;
  /** Checks everything but that the answer is new, which `commit` does. */
  assert(response: unknown, ceremony: Ceremony): Promise<Asserted>;
  register(response: unknown, ceremony: Ceremony): Promise<Registered>;
};

/** The bytes of its UUID. Authenticators keep them beside the passkey, and return them at the sign-in. */
const handleOf = (personId: string): Buffer => Buffer.from(personId.replaceAll('-', ''), 'hex');

const NO_DOMAIN =
  'Passkeys need a domain name: open the service by its name instead of its IP address, and set FERRY_PUBLIC_URL to that.';

const REPLAYED = 'This answer of the passkey was used before. Try again.';

/** EdDSA, ES256 and RS256, in COSE's numbers: what authenticators have. */
const ALGORITHMS = [-8, -7, -257];

/** The library throws for whatever is wrong. Its messages quote the response, so they are not passed on. */
async function verified<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify();
  } catch {
    throw refused(
      'The answer of the passkey is not valid: it is for another site, has expired, was made without verifying you, or is not signed by this passkey. Try again.',
    );
  }
}

export function createPasskeys(database: Database, challenges: Challenges, place: () => Place): Passkeys {
  const domain = (): string => {
    const { passkeyDomain } = place();
    if (passkeyDomain === undefined) throw refused(NO_DOMAIN);
    return passkeyDomain;
  };
  /** What the answer must be about, and the challenge in it. */
  const expected = ({ purpose, subject }: Ceremony) => {
    let answered: { challenge: string; expiresAtMs: number } | undefined;
    return {
      options: {
        expectedChallenge(challenge: string): boolean {
          const expiresAtMs = challenges.read(challenge, purpose, subject);
          if (expiresAtMs !== undefined) answered = { challenge, expiresAtMs };
          return expiresAtMs !== undefined;
        },
        expectedOrigin: [...place().origins],
        expectedRPID: domain(),
        requireUserVerification: true,
      },
      async use(tx: Transaction): Promise<void> {
        const { challenge, expiresAtMs } = answered!;
        if (!(await useChallenge(tx, challenge, expiresAtMs))) throw refused(REPLAYED);
      },
    };
  };

  return {
    async assertionOptions({ purpose, subject }) {
      const { generateAuthenticationOptions } = await webAuthn();
      return generateAuthenticationOptions({
        rpID: domain(),
        challenge: challenges.create(purpose, subject),
        userVerification: 'required',
        timeout: LIMITS.challengeMs,
      });
    },
    async registrationOptions({ purpose, subject }, person) {
      const { generateRegistrationOptions } = await webAuthn();
      const known = await passkeysOf(database, person.id);
      if (known.length >= LIMITS.passkeysMax) throw tooManyPasskeys();
      return generateRegistrationOptions({
        rpName: 'Ferry',
        rpID: domain(),
        userID: Uint8Array.from(handleOf(person.id)),
        userName: person.email,
        userDisplayName: person.name,
        challenge: challenges.create(purpose, subject),
        attestationType: 'none',
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        timeout: LIMITS.challengeMs,
      });
    },
    async assert(given, ceremony) {
      const { verifyAuthenticationResponse } = await webAuthn();
      const response = given as AuthenticationResponseJSON;
      const passkey = await passkeyByCredential(database, response.id);
      if (passkey === undefined) throw refused('This passkey is not known here. It may have been removed.');
      const { options, use } = expected(ceremony);
      const { verified: isValid, authenticationInfo } = await verified(() =>
        verifyAuthenticationResponse({
          response,
          ...options,
          credential: {
            id: passkey.credentialId,
            publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64url')),
            counter: Number(passkey.counter),
          },
        }),
      );
      const isTheirs = response.response.userHandle === handleOf(passkey.personId).toString('base64url');
      if (!isValid || !isTheirs) throw refused('The answer of the passkey is not valid. Try again.');
      return {
        passkey,
        async commit(tx) {
          await use(tx);
          if (!(await advanceCounter(tx, passkey.id, BigInt(authenticationInfo.newCounter))))
            throw refused(REPLAYED);
        },
      };
    },
    async register(given, ceremony) {
      const { verifyRegistrationResponse } = await webAuthn();
      const { options, use } = expected(ceremony);
      const { registrationInfo } = await verified(() =>
        verifyRegistrationResponse({
          response: given as RegistrationResponseJSON,
          supportedAlgorithmIDs: ALGORITHMS,
          ...options,
        }),
      );
      if (registrationInfo === undefined) throw refused('The answer of the passkey is not valid. Try again.');
      const { credential } = registrationInfo;
      return {
        async commit(tx, person, name) {
          const fault = labelFault(name, LIMITS.passkeyNameLengthMax);
          if (fault !== undefined) throw invalidField('/name', fault);
          await use(tx);
          if ((await passkeysOf(tx, person.id)).length >= LIMITS.passkeysMax) throw tooManyPasskeys();
          const passkey = {
            id: newId(),
            personId: person.id,
            credentialId: credential.id,
            publicKey: Buffer.from(credential.publicKey).toString('base64url'),
            counter: BigInt(credential.counter),
            name,
          };
          if (!(await insertPasskey(tx, passkey))) throw refused('This passkey is registered already.');
        },
      };
    },
  };
}
