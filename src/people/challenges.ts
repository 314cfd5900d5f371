import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';

/**
 * Challenges for passkeys. A challenge is its own record: it contains when it expires, random bits, and a keyed digest of both
 * and of what it is for. So a request to sign in writes nothing, and any node can check the answer; only answers with a valid
 * signature are written down, so that each is accepted once (`useChallenge`).
 *
 *   expires (8 bytes) │ random (16) │ digest (16)
 */
export type Purpose = 'sign in' | 'step up' | 'enrol' | 'add';

export type Challenges = {
  /** `subject` is the session or the person that it is for; empty for a sign-in. */
  create(purpose: Purpose, subject: string): Uint8Array<ArrayBuffer>;
  /** When it expires, in milliseconds; undefined unless it was made for this and is still valid. */
  read(challenge: string, purpose: Purpose, subject: string): number | undefined;
};

const HEAD_BYTES = 24;
const DIGEST_BYTES = 16;

export function createChallenges(vault: Vault, clock: Clock): Challenges {
  const digest = vault.digester('passkey challenge');
  const digestOf = (head: Buffer, purpose: Purpose, subject: string): Buffer =>
    Buffer.from(digest(`${purpose} ${subject} ${head.toString('hex')}`), 'base64url').subarray(
      0,
      DIGEST_BYTES,
    );
  return {
    create(purpose, subject) {
      const head = Buffer.concat([Buffer.alloc(8), randomBytes(HEAD_BYTES - 8)]);
      head.writeBigUInt64BE(BigInt(clock.nowMs() + LIMITS.challengeMs));
      return Uint8Array.from([...head, ...digestOf(head, purpose, subject)]);
    },
    read(challenge, purpose, subject) {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length !== HEAD_BYTES + DIGEST_BYTES) return undefined;
      const head = bytes.subarray(0, HEAD_BYTES);
      if (!timingSafeEqual(bytes.subarray(HEAD_BYTES), digestOf(head, purpose, subject))) return undefined;
      const expiresAtMs = Number(head.readBigUInt64BE());
      return expiresAtMs > clock.nowMs() ? expiresAtMs : undefined;
    },
  };
}
