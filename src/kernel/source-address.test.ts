import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressRanges, createSourceOf, isAddressRange, sourceKey } from './source-address.ts';

describe('a range of addresses', () => {
  it.each([
    [
      '10.0.0.0/8',
      ['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3'],
      ['11.0.0.0', '9.255.255.255', '::10.1.2.3'],
    ],
    ['192.0.2.7', ['192.0.2.7', '::ffff:c000:207'], ['192.0.2.6', '192.0.2.8']],
    ['192.0.2.128/25', ['192.0.2.128', '192.0.2.255'], ['192.0.2.127']],
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['::1', '2001:db8::1']],
    ['::/0', ['::1', '2001:db8::1'], ['10.0.0.1']],
    ['2001:db8::/32', ['2001:db8::', '2001:db8:ffff::1'], ['2001:db9::', '2001:0:db8::']],
    ['2001:db8:0:8000::/49', ['2001:db8:0:8000::1', '2001:db8:0:ffff::'], ['2001:db8:0:7fff::']],
    ['fe80::/10', ['fe80::1%eth0', 'febf::1'], ['fec0::1']],
    ['64:ff9b::192.0.2.1', ['64:ff9b::c000:201'], ['64:ff9b::c000:202']],
  ])('%s contains exactly its own', (range, inside, outside) => {
    const ranges = addressRanges([range]);
    expect(inside.filter((address) => !ranges.has(address))).toEqual([]);
    expect(outside.filter((address) => ranges.has(address))).toEqual([]);
    for (const text of ['', 'localhost', '10.0.0', '10.0.0.0/8']) expect(ranges.has(text)).toBe(false);
  });

  it.each([
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.1.2.3/8',
    '2001:db8::1/64',
    'a',
    '10.0.0.0/-1',
  ])('is not %j', (text) => {
    expect(isAddressRange(text)).toBe(false);
    expect(() => addressRanges([text])).toThrow(/range/);
  });

  it('contains an address of it in any spelling', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(isAddressRange(address)).toBe(true);
        expect(addressRanges([address]).has(new URL(`http://[${address}]`).hostname.slice(1, -1))).toBe(true);
      }),
    );
  });
});

describe('the source of a request', () => {
  const behind = createSourceOf(['10.0.0.0/8', '2001:db8::/32']);

  it.each([
    ['the peer, if it is no trusted proxy', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['the peer without a header', '10.0.0.1', undefined, '10.0.0.1'],
    ['the address that the proxy reports', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['the rightmost that is no proxy', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['the first one, if all are proxies', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['not before an entry that is no address', '10.0.0.1', '1.1.1.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['the proxy, if the header is empty', '10.0.0.1', '', '10.0.0.1'],
    ['without a port', '::ffff:10.0.0.1', '198.51.100.1:443', '198.51.100.1'],
    ['without brackets', '2001:db8::1', '[2001:db9::7]:443', '2001:db9::7'],
    ['not known on a closed connection', undefined, '198.51.100.1', undefined],
  ])('is %s', (_title, peer, forwardedFor, expected) => {
    expect(behind({ remoteAddress: peer }, forwardedFor)).toBe(expected);
  });

  it('is always the peer if no proxy is configured', () => {
    expect(createSourceOf()({ remoteAddress: '127.0.0.1' }, '198.51.100.1')).toBe('127.0.0.1');
  });

  it('counts by its address, and in IPv6 by its /64', () => {
    expect(sourceKey('192.0.2.1')).toBe('192.0.2.1');
    expect(sourceKey('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(sourceKey('2001:db8:1:2:3::4')).toBe(sourceKey('2001:db8:1:2::'));
    expect(sourceKey('2001:db8:1:2::')).not.toBe(sourceKey('2001:db8:1:3::'));
    expect(sourceKey(undefined)).toBe(sourceKey('nonsense'));
  });
});
