/**
 * Seals secrets and personal data for the database (AES-256-GCM), and makes keyed digests of what only has to be compared. A
 * copy of the database without the wrapping key reveals neither. Synchronous: the keys are in memory, see `src/sealing/`.
 */
export type Vault = {
  /** `place` names the row and the column. A sealed value that is copied to another place cannot be opened there. */
  seal(text: string, place: string): string;
  /** Throws UnreadableSecret if another key sealed it, or if it was sealed for another place. */
  open(sealed: string, place: string): string;
  /** A digest function with a key of its own, in base64url. Equal texts have equal digests; nobody can guess a text by trying. */
  digester(purpose: string): (text: string) => string;
  /**
   * The same with 96 bits, for the hot path: one call of BLAKE2b, which is made to have the key before the text. On a processor
   * without instructions for SHA-256 it takes less than half the time of that.
   */
  shortDigester(purpose: string): (text: string) => string;
  /** What earlier releases stored: SHA-256, cut off. */
  olderShortDigester(purpose: string): (text: string) => string;
  /** Encrypts blocks of a fixed size with a key of its own, always to the same result. Hides numbers; does not detect changes. */
  blocks(purpose: string): BlockCipher;
};

export type BlockCipher = {
  /** The size of a block. */
  readonly bytes: number;
  encrypt(block: Buffer): Buffer;
  decrypt(block: Buffer): Buffer;
};
