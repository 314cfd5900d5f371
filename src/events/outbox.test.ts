import { describe, expect, it } from 'vitest';
import { type EventType, eventFamily, lowerCase } from '../kernel/event-types.ts';
import { event } from './outbox.ts';

const FERRY = eventFamily('ferry', ['departed', 'arrived.early']);

describe('a family of event types', () => {
  it('has the full type for each of its names', () => {
    expect(FERRY.types).toEqual({ departed: 'ferry.departed', 'arrived.early': 'ferry.arrived.early' });
  });

  it('is the only source of types: an event of an undeclared type does not compile', () => {
    const write = (type: EventType) => event(type, 'customer', 'resource', 0n, {});
    // @ts-expect-error a text is not a type, even if it looks like one
    write('ferry.departed');
    // @ts-expect-error a name that the family does not have
    expect(FERRY.types.sunk).toBeUndefined();
    expect(write(FERRY.types.departed).row).toMatchObject({ type: 'ferry.departed' });
  });

  it('spells statuses in lower case', () => {
    const status: 'departed' = lowerCase('DEPARTED');
    expect(FERRY.types[status]).toBe('ferry.departed');
  });
});
