import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newBatchId, newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import { batchOf, eventId, eventText, lineOf } from './event.ts';
import { type PackedEvent, packLine, packText, unpackEvents } from './pack.ts';

const packed = (events: readonly PackedEvent[]): Buffer =>
  packText(
    events.map((one) => packLine(one.line, one.type, one.resourceId, one.atNs, one.resource)).join(''),
  );

/** Lines increase, with gaps: the lines in between belong to other customers. */
const events: fc.Arbitrary<PackedEvent[]> = fc
  .array(
    fc.record({
      step: fc.integer({ min: 1, max: 500 }),
      type: fc.stringMatching(/^[a-z0-9_]{1,12}(\.[a-z0-9_]{1,30}){1,2}$/),
      resourceId: fc.uuid(),
      atNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      resource: fc.oneof(
        fc.object(),
        fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })),
      ),
    }),
    { maxLength: 100 },
  )
  .map((list) => {
    let line = 0;
    return list.map(({ step, resource, ...rest }) => {
      line += step;
      return { ...rest, line, resource: JSON.stringify(resource) };
    });
  });

const isCompressed = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString('hex') === '28b52ffd';

describe('packed events', () => {
  it('are unpacked unchanged, whatever the resources contain', () => {
    fc.assert(
      fc.property(events, (list) => {
        expect([...unpackEvents(packed(list))]).toEqual(list);
      }),
    );
  });

  it('are unpacked if they match, in their order', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 3 }), (list, rest) => {
        const fits = ({ line }: { line: number }): boolean => line % 3 === rest % 3;
        expect([...unpackEvents(packed(list), fits)]).toEqual(list.filter(fits));
      }),
    );
  });

  const one = (resource: string): PackedEvent => ({
    line: 1,
    type: 'transfer.test.completed',
    resourceId: newId(),
    atNs: 1n,
    resource,
  });
  /** An event whose packed text has exactly this length. */
  const ofLength = (bytes: number): PackedEvent => {
    const empty = packed([one('""')]).length;
    return one(`"${'ä'.repeat((bytes - empty) >> 1)}${'a'.repeat((bytes - empty) & 1)}"`);
  };

  it('are text while they are short, counted in bytes, and compressed beyond that', () => {
    const [longest, longer] = [ofLength(LIMITS.eventPlainBytesMax), ofLength(LIMITS.eventPlainBytesMax + 1)];
    expect(packed([longest])).toHaveLength(LIMITS.eventPlainBytesMax);
    expect(packed([longest]).toString()).toBe(
      `1 transfer.test.completed ${longest.resourceId} 1 ${longest.resource}\n`,
    );
    expect(isCompressed(packed([longer]))).toBe(true);
    expect([...unpackEvents(packed([longer]))]).toEqual([longer]);
  });

  it('of a hundred transfers take less than a quarter of the size of their text', () => {
    const list = Array.from({ length: 100 }, (_, index) => {
      const [id, profile] = [newId(), newId()];
      const resource = `{"id":"${id}","profile_id":"${profile}","amount":"0.${index}","asset":"USD","direction":"DEBIT","type":"PLATFORM_TRANSFER_DEBIT","status":"COMPLETED","created_at":"2026-01-01T00:00:00.${index}Z"}`;
      return { ...one(resource), line: index + 1, resourceId: id };
    });
    const plain = list.reduce((sum, event) => sum + event.resource.length, 0);
    expect(packed(list).length).toBeLessThan(plain / 4);
  });

  it.each([
    ['in its words', '1 transfer.test'],
    ['before its end', `1 transfer.test.completed ${newId()} 1 {"a"`],
  ])('that are truncated %s cause an error, and are not read as fewer events', (_, text) => {
    expect(() => [...unpackEvents(Buffer.from(text))]).toThrow('truncated');
  });
});

describe('the id of an event', () => {
  it('contains the batch and the line', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: LIMITS.batchEventsMax }), (line) => {
        const batchId = newBatchId();
        const id = eventId(batchId, line);
        expect([id.length, batchOf(id), lineOf(id)]).toEqual([36, batchId, line]);
      }),
    );
  });

  it('is shown with the resource as it was written', () => {
    const resource = '{"b":"\\u2028ä","1":[1.50,null]}';
    const event = { id: newId(), type: 'transfer.test.completed', resourceId: newId(), atNs: 1n, resource };
    const { id, type, resourceId: resource_id } = event;
    const shown = { id, type, created_at: '1970-01-01T00:00:00.000000001Z', resource_id, data: 0 };
    expect(eventText(event)).toBe(JSON.stringify(shown).replace(/0}$/, `${resource}}`));
  });
});
