import { type FeedPlace, LINE_MAX } from './event.ts';

const CURSOR = /^feed ([0-9]{1,18}) ([0-9]{1,10})$/;

/** Places never change, so a cursor never expires. Opaque to users: only cursors that the service wrote are accepted. */
export function writeCursor({ position, line }: FeedPlace): string {
  return Buffer.from(`feed ${position} ${line}`).toString('base64url');
}

export function readCursor(text: string): FeedPlace | undefined {
  const plain = Buffer.from(text, 'base64url').toString('utf8');
  if (Buffer.from(plain).toString('base64url') !== text) return undefined;
  const match = CURSOR.exec(plain);
  if (match === null) return undefined;
  const line = Number(match[2]);
  return line > LINE_MAX ? undefined : { position: BigInt(match[1]!), line };
}
