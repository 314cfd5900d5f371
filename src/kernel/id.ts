import { randomFillSync } from 'node:crypto';

/**
 * UUIDv7 (RFC 9562): ordered by time, so that new rows land at the right end of an index.
 * The 12 bits after the time count within a millisecond, so ids of one process are strictly increasing.
 */
const POOL_BYTES = 8 * 512;
const pool = Buffer.alloc(POOL_BYTES);
let poolOffset = POOL_BYTES;
let lastMs = 0;
let counter = 0;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function newId(): string {
  if (poolOffset === POOL_BYTES) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const offset = poolOffset;
  poolOffset += 8;
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = pool.readUInt16BE(offset) & 0x3ff;
  } else {
    counter += 1;
    // A counter that is used up, or a clock that went back: borrow from the next millisecond.
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const count = (0x7000 | counter).toString(16);
  const variant = HEX[0x80 | (pool[offset]! & 0x3f)]! + HEX[pool[offset + 1]!]!;
  let node = '';
  for (let index = 2; index < 8; index += 1) node += HEX[pool[offset + index]!]!;
  return `${time.slice(0, 8)}-${time.slice(8)}-${count}-${variant}-${node}`;
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The same as text, for JSON schemas. */
export const ID_PATTERN = ID.source;

export function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}
