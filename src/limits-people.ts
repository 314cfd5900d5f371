/** Bounds on people: their sessions, passkeys and attempts to sign in. */
export const PEOPLE_LIMITS = {
  /** Of a customer, or of the operator. Lists of people are read by people. */
  peopleMax: 1_000,
  personNameLengthMax: 100,
  /** RFC 5321: 64 characters, an @ and a domain of 255, but at most 254 in all. */
  emailLengthMax: 254,
  /** Devices and security keys of one person. */
  passkeysMax: 10,
  passkeyNameLengthMax: 60,
  /** Browsers in which one person is signed in. A new sign-in ends the oldest session. */
  sessionsMax: 10,
  /** A session that was not used for so long has ended: somebody has left the desk. */
  sessionIdleMs: 30 * 60_000,
  /** A working day; then the person signs in again. */
  sessionMs: 12 * 3_600_000,
  /** How exact the time of the last use is stored. Otherwise each request would write. */
  sessionUsedMs: 60_000,
  /** Sensitive operations require that the person proved who they are within this time. */
  stepUpMs: 10 * 60_000,
  /** An enrolment link is sent to a person, who opens it on the next working day. */
  enrolmentLinkMs: 72 * 3_600_000,
  /** Time to touch a security key, or to find it. */
  challengeMs: 5 * 60_000,
  /** Time to sign in at the OpenID provider. */
  openIdSignInMs: 10 * 60_000,
  /** A call of the OpenID provider. */
  openIdTimeoutMs: 10_000,
  /** How long its metadata and keys are cached. */
  openIdMetadataMs: 3_600_000,
  /** How long before its answer the person may have signed in there, to count as a step-up. */
  openIdAuthTimeMaxSeconds: 300,
  /** Requests to sign in that one source address may make per second, and for how many seconds at once. An office shares one. */
  signInsPerSecond: 2,
  signInBurstSeconds: 30,
  /** Sources whose requests are counted: about 100 bytes each. */
  signInSourcesMax: 10_000,
  /** A passkey's answer has 1 KB, with an attestation 5 KB. */
  signInBodyBytesMax: 32 * 1_024,
  /** Of a session's browser, as it names itself. */
  userAgentLengthMax: 200,
  /** How often expired sessions, links and challenges are deleted, and how many rows of each at once. */
  peopleCleanUpMs: 60_000,
  peopleCleanUpRowsMax: 1_000,
} as const;
