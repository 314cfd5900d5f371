import { expect, it } from 'vitest';
import { sourceOf } from './connections.ts';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['fe80::1', 'fe80:0:0:0'],
  ['127.0.0.1', undefined],
  ['::ffff:127.0.0.1', undefined],
  ['::1', undefined],
  [undefined, undefined],
])('the source of %s is %s', (address, source) => {
  expect(sourceOf(address)).toBe(source);
});
