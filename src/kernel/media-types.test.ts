import { expect, it } from 'vitest';
import { acceptable } from './media-types.ts';

const OFFERED = ['application/json', 'text/csv', 'application/xml'];

it.each([
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['text/csv', 'text/csv'],
  ['TEXT/CSV; charset=utf-8', 'text/csv'],
  ['text/*', 'text/csv'],
  ['application/xml, application/json;q=0.9', 'application/xml'],
  ['application/json;q=0.5, text/csv;q=0.8, */*;q=0.1', 'text/csv'],
  ['*/*, application/json;q=0', 'text/csv'],
  ['image/png', undefined],
  ['text/csv;q=0', undefined],
  ['text/csv;q=2', undefined],
  ['nonsense', undefined],
])('of Accept %s the best offered type is %s', (accept, type) => {
  expect(acceptable(accept, OFFERED)).toBe(type);
});
