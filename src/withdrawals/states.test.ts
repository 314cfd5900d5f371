import { describe, expect, it } from 'vitest';
import { moveTo, type WorkState } from './states.ts';

const STATES: readonly WorkState[] = ['QUEUED', 'SUBMITTING', 'SUBMITTED', 'UNKNOWN'];

const ALLOWED: readonly (readonly [WorkState, WorkState])[] = [
  ['QUEUED', 'QUEUED'],
  ['QUEUED', 'SUBMITTING'],
  ['SUBMITTING', 'SUBMITTED'],
  ['SUBMITTING', 'QUEUED'],
  ['SUBMITTING', 'UNKNOWN'],
  ['UNKNOWN', 'UNKNOWN'],
  ['UNKNOWN', 'SUBMITTED'],
  ['UNKNOWN', 'SUBMITTING'],
  ['SUBMITTED', 'SUBMITTED'],
];

describe('the state of a pending withdrawal', () => {
  it.each(ALLOWED)('can go from %s to %s', (from, to) => {
    expect(moveTo(from, to)).toBe(to);
  });

  const forbidden = STATES.flatMap((from) => STATES.map((to) => [from, to] as const)).filter(
    ([from, to]) => !ALLOWED.some(([one, other]) => one === from && other === to),
  );
  it.each(forbidden)('cannot go from %s to %s', (from, to) => {
    expect(() => moveTo(from, to)).toThrow(`a withdrawal cannot go from ${from} to ${to}`);
  });
});
