import type { Vault } from '../sealing/vault.ts';
import { type FeedPlace, LINE_MAX } from './event.ts';

/**
 * Cursors of the feed. Places never change, so a cursor never expires. A place counts the events of all customers, so it is
 * encrypted: a customer must not learn how much the others do. The same place always has the same cursor.
 */
export type Cursors = {
  write(place: FeedPlace): string;
  /** Undefined for a text that the service did not write. */
  read(text: string): FeedPlace | undefined;
};

/** Cursors were written like this before they were encrypted. Clients still have them. */
const PLAIN = /^feed ([0-9]{1,18}) ([0-9]{1,10})$/;

function placeOf(position: bigint, line: number): FeedPlace | undefined {
  return line > LINE_MAX ? undefined : { position, line };
}

function readPlain(bytes: Buffer): FeedPlace | undefined {
  const match = PLAIN.exec(bytes.toString('utf8'));
  return match === null ? undefined : placeOf(BigInt(match[1]!), Number(match[2]));
}

export function createCursors(vault: Vault): Cursors {
  const cipher = vault.blocks('event cursors');
  return {
    write({ position, line }) {
      // The last four bytes stay zero: that is how a cursor is recognized.
      const block = Buffer.alloc(cipher.bytes);
      block.writeBigInt64BE(position, 0);
      block.writeUInt32BE(line, 8);
      return cipher.encrypt(block).toString('base64url');
    },
    read(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.toString('base64url') !== text) return undefined;
      if (bytes.length !== cipher.bytes) return readPlain(bytes);
      const block = cipher.decrypt(bytes);
      if (block.readUInt32BE(12) !== 0) return readPlain(bytes);
      return placeOf(block.readBigInt64BE(0), block.readUInt32BE(8));
    },
  };
}
