import { describe, expect, it } from 'vitest';
import { newBatchId, newId } from '../kernel/id.ts';
import { eventId } from './event.ts';
import { createTest, type FeedFilter } from './filter.ts';
import { typePattern } from './types.ts';

const batchId = newBatchId();
const resourceId = newId();
const line = { line: 7, type: 'transfer.wire_withdrawal.failed', resourceId, atNs: 100n };
const fits = (filter: FeedFilter, batch = batchId): boolean => createTest(filter)(batch)(line);

describe('an event matches a filter', () => {
  it.each([
    ['*', true],
    ['transfer.*', true],
    ['transfer.*.failed', true],
    ['transfer.wire_withdrawal.failed', true],
    ['transfer', false],
    ['transfer.*.pending', false],
    ['transfer.wire_withdrawal', false],
    // A dot and an underscore match only themselves.
    ['transfer_wire_withdrawal_failed', false],
    ['transfer.wire.withdrawal.failed', false],
  ])('of the type %s: %s', (type, expected) => {
    expect(typePattern(type).test(line.type)).toBe(expected);
    expect(fits({ types: ['settlement.*', type] })).toBe(expected);
  });

  it('unless it has the excluded type', () => {
    expect(fits({ types: ['*'], notType: line.type })).toBe(false);
    expect(fits({ types: ['*'], notType: 'webhook_endpoint.test' })).toBe(true);
  });

  it.each([
    ['<', 100n, false],
    ['<', 101n, true],
    ['<=', 100n, true],
    ['<=', 99n, false],
    ['=', 100n, true],
    ['=', 99n, false],
    ['>=', 100n, true],
    ['>=', 101n, false],
    ['>', 99n, true],
    ['>', 100n, false],
  ])('of times %s %s: %s', (operator, ns, expected) => {
    expect(fits({ ranges: [{ operator, ns }] })).toBe(expected);
    expect(
      fits({
        ranges: [
          { operator: '>', ns: 1n },
          { operator, ns },
        ],
      }),
    ).toBe(expected);
  });

  it('by its id only in its own batch, and by its resource in any batch', () => {
    expect(fits({ ids: [newId(), eventId(batchId, 7)] })).toBe(true);
    expect(fits({ ids: [eventId(batchId, 8)] })).toBe(false);
    expect(fits({ ids: [eventId(newBatchId(), 7)] })).toBe(false);
    expect(fits({ resourceIds: [newId(), resourceId] }, newBatchId())).toBe(true);
    expect(fits({ resourceIds: [newId()] })).toBe(false);
  });

  it('only if it matches all parts of the filter', () => {
    expect(fits({ ids: [eventId(batchId, 7)], resourceIds: [resourceId], types: ['transfer.*'] })).toBe(true);
    expect(fits({ ids: [eventId(batchId, 7)], resourceIds: [newId()] })).toBe(false);
    expect(fits({ resourceIds: [resourceId], types: ['settlement.*'] })).toBe(false);
    expect(fits({})).toBe(true);
  });
});
