import { expect, it } from 'vitest';
import { isSheddable } from './admission.ts';

it.each([
  '/v2/profiles',
  '/%762/profiles',
  '/v%32/profiles',
  'http://x/v2/profiles',
  '/docs/js/scalar.js',
  '/healthy',
  '/x',
])('in an overload, %s can be refused, however it is written', (url) => {
  expect(isSheddable(url)).toBe(true);
});

it.each([
  '/health/live',
  '/health/ready?x=1',
  '/metrics',
  '/oauth2/token',
  '/problems/not-found',
  '/openapi.json',
])('in an overload, %s is still answered', (url) => {
  expect(isSheddable(url)).toBe(false);
});
