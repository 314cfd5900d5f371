import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Actor } from '../kernel/actor.ts';
import { addActorLine, noActorLines, unpackActors } from './actors.ts';

const client: Actor = { kind: 'client', id: 'ferry_1', customerId: 'c', from: '192.0.2.1' };
const actor = fc.record({
  kind: fc.constantFrom('client', 'person', 'worker', 'cli'),
  id: fc.constantFrom('a', 'b'),
  name: fc.option(fc.constantFrom('Zoë\n{', 'x'), { nil: undefined }),
  from: fc.option(fc.constantFrom('192.0.2.1', '2001:db8::1'), { nil: undefined }),
  requestId: fc.option(fc.constantFrom('r1', 'r2'), { nil: undefined }),
});

describe('the actors of a group of events', () => {
  it('are those that were added, whichever lines of the batch the group has and whichever are asked for', () => {
    const lines = fc.array(
      fc.record({ gap: fc.integer({ min: 1, max: 3 }), who: fc.nat(3), asked: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(actor, { minLength: 4, maxLength: 4 }), lines, (actors, steps) => {
        const packed = noActorLines();
        const expected = new Map<number, Actor>();
        let line = 0;
        for (const { gap, who, asked } of steps) {
          line += gap;
          addActorLine(packed, line, actors[who]!);
          if (asked) expected.set(line, actors[who]!);
        }
        expect(unpackActors(Buffer.from(packed.text), [...expected.keys()])).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('cost nothing for further lines of one request', () => {
    const packed = noActorLines();
    const first = { ...client, requestId: 'r1' };
    for (const line of [1, 2, 3]) addActorLine(packed, line, first);
    addActorLine(packed, 4, { ...client, requestId: 'r2' });
    expect(packed.text.split('\n').slice(1)).toEqual(['1 r1', '4 r2', '']);
  });

  it('are read from groups of earlier releases, which were compressed and had each line', () => {
    const text = `${JSON.stringify(client)}\n1 r1\n2 =\n5 -\n6 =\n`;
    const expected = new Map<number, Actor>([
      [1, { ...client, requestId: 'r1' }],
      [2, { ...client, requestId: 'r1' }],
      [6, client],
    ]);
    for (const packed of [Buffer.from(text), zstdCompressSync(Buffer.from(text))])
      expect(unpackActors(packed, [1, 2, 6])).toEqual(expected);
  });

  it('are unknown where a group has none', () => {
    expect(unpackActors(Buffer.from('{}'), [1, 2])).toEqual(new Map());
  });
});
