import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVault, newDataKey } from '../sealing/vault.ts';
import { createCursors } from './cursor.ts';
import { LINE_MAX } from './event.ts';

const keys = [{ id: 1, key: newDataKey() }];
const cursors = createCursors(createVault(keys));

describe('a cursor', () => {
  it('leads back to its place, on every node', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 62n), fc.integer({ min: 0, max: LINE_MAX }), (position, line) => {
        const text = cursors.write({ position, line });
        expect(text).toMatch(/^[\w-]{22}$/);
        expect(createCursors(createVault(keys)).read(text)).toEqual({ position, line });
      }),
    );
  });

  it('does not show the place: neighbouring places have nothing in common', () => {
    const [one, two] = [1n, 2n].map((position) => cursors.write({ position, line: 0 }));
    for (const text of [one!, two!]) {
      expect(Buffer.from(text, 'base64url').toString('latin1')).not.toMatch(/feed/);
      expect(Buffer.from(text, 'base64url').subarray(0, 8)).not.toEqual(Buffer.alloc(8));
    }
    expect(one!.slice(0, 6)).not.toBe(two!.slice(0, 6));
  });

  it('from before cursors were encrypted is still read', () => {
    for (const [text, place] of [
      ['feed 37 1', { position: 37n, line: 1 }],
      // As many bytes as an encrypted one.
      ['feed 12345678 12', { position: 12_345_678n, line: 12 }],
    ] as const)
      expect(cursors.read(Buffer.from(text).toString('base64url'))).toEqual(place);
  });

  it('of another installation, or that was changed, is not read', () => {
    const foreign = createCursors(createVault([{ id: 1, key: newDataKey() }]));
    expect(cursors.read(foreign.write({ position: 5n, line: 0 }))).toBeUndefined();
    const text = cursors.write({ position: 5n, line: 0 });
    expect(cursors.read(`${text[0] === 'A' ? 'B' : 'A'}${text.slice(1)}`)).toBeUndefined();
    for (const other of ['', 'x', text.slice(1), `${text}A`, `${text}=`])
      expect(cursors.read(other), other).toBeUndefined();
  });
});
