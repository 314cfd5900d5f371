import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chooseEncoding, createStaticContent, lazily } from './static.ts';

describe('the encoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;Q=0.5', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['deflate', 'identity'],
    ['br;q=nonsense', 'identity'],
  ] as const)('for "%s" is %s', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding);
  });
});

it('all variants have the same content, and an ETag each', async () => {
  const text = 'Fährgeld '.repeat(1_000);
  const variantsOf = async (content: string) => {
    const { variants } = createStaticContent('text/plain', content);
    return { br: await variants.br(), gzip: await variants.gzip(), identity: await variants.identity() };
  };
  const { br, gzip, identity } = await variantsOf(text);
  expect(identity.body.toString()).toBe(text);
  expect(brotliDecompressSync(br.body).toString()).toBe(text);
  expect(gunzipSync(gzip.body).toString()).toBe(text);
  expect(new Set([br.etag, gzip.etag, identity.etag]).size).toBe(3);
  expect((await variantsOf(text)).br.etag).toBe(br.etag);
  expect((await variantsOf(`${text}.`)).br.etag).not.toBe(br.etag);
});

it('content is compressed once', async () => {
  const { variants } = createStaticContent('text/plain', 'Fährgeld '.repeat(1_000));
  const [one, other] = await Promise.all([variants.br(), variants.br()]);
  expect(other.body).toBe(one.body);
  expect((await variants.br()).body).toBe(one.body);
});

it('a value that is made lazily is made once, but again after a failure', async () => {
  let made = 0;
  const get = lazily(async () => {
    made += 1;
    if (made === 1) throw new Error('not yet');
    return made;
  });
  await expect(Promise.all([get(), get()])).rejects.toThrow('not yet');
  expect(await Promise.all([get(), get()])).toEqual([2, 2]);
});
