import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const linkOf = (value: string, host = '127.0.0.1') =>
  readConfig({ FERRY_NODE_LINK: value, HOST: host }).nodeLink;

describe('FERRY_NODE_LINK', () => {
  it('is off unless it is set', () => {
    expect(readConfig({}).nodeLink).toBeUndefined();
    expect(linkOf('off')).toBeUndefined();
    expect(linkOf('')).toBeUndefined();
  });

  it('listens on a free port of HOST if it is on', () => {
    expect(linkOf('on', '10.0.0.5')).toEqual({ host: '10.0.0.5', port: 0 });
  });

  it.each([
    ['10.0.0.5:7070', { host: '10.0.0.5', port: 7070 }],
    ['[fd00::5]:7070', { host: 'fd00::5', port: 7070 }],
    ['node-1.internal:7070', { host: 'node-1.internal', port: 7070 }],
  ])('can be the address %s', (value, address) => {
    expect(linkOf(value)).toEqual(address);
  });

  it.each(['yes', '7070', '10.0.0.5', ':7070', '10.0.0.5:99999', '0.0.0.0:7070', '[::]:7070', 'a b:1'])(
    'cannot be %s',
    (value) => {
      const sentence = /^FERRY_NODE_LINK must be on, off, or an address of this machine .* not ".*"\.$/;
      expect(() => linkOf(value)).toThrow(ConfigError);
      expect(() => linkOf(value)).toThrow(sentence);
    },
  );

  it.each(['0.0.0.0', '::'])('cannot be on if HOST is %s, which other nodes cannot connect to', (host) => {
    expect(() => linkOf('on', host)).toThrow(
      /^FERRY_NODE_LINK=on listens on HOST, and other nodes cannot reach/,
    );
  });
});
