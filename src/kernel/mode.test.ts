import { expect, it } from 'vitest';
import { createModes } from './mode.ts';

type Door = { readonly name: 'OPEN' } | { readonly name: 'SHUT'; readonly by: string };

const door = () => createModes<Door>('the door', { name: 'OPEN' }, { OPEN: ['SHUT'], SHUT: ['OPEN'] });

it('a mode changes along the listed transitions, and carries its own values', () => {
  const modes = door();
  expect([modes.now(), modes.is('OPEN'), modes.is('SHUT')]).toEqual([{ name: 'OPEN' }, true, false]);
  modes.become({ name: 'SHUT', by: 'wind' });
  expect(modes.now()).toEqual({ name: 'SHUT', by: 'wind' });
});

it('any other transition throws, and changes nothing', () => {
  const modes = door();
  expect(() => modes.become({ name: 'OPEN' })).toThrow('the door cannot go from OPEN to OPEN');
  expect(modes.is('OPEN')).toBe(true);
});
