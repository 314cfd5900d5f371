import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOT_XML, xmlOf, xmlText } from './xml.ts';
import { readXml, XmlError } from './xml-reader.ts';

const BOUNDS = { depthMax: 20, elementsMax: 1_000 };
const read = (text: string) => readXml(text, BOUNDS);

describe('XML that is written', () => {
  it('reads back as it was, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const node = read(xmlOf(['a', [['b', text, { c: text }]]]));
        const expected = text.replaceAll(new RegExp(NOT_XML, 'gu'), '\ufffd');
        expect(node.children[0]!.text).toBe(expected);
        expect(node.children[0]!.attributes.get('c')).toBe(expected);
      }),
    );
  });

  it('escapes what has a meaning', () => {
    expect(xmlText(`<a href="x">'&'</a>\u0000\ud800`)).toBe(
      '&lt;a href=&quot;x&quot;&gt;&apos;&amp;&apos;&lt;/a&gt;\ufffd\ufffd',
    );
  });
});

describe('XML that is read', () => {
  it('has names without prefixes, attributes, texts, comments and sections of characters', () => {
    const node = read(
      '\ufeff<?xml version="1.0" encoding="utf-8"?>\n<!-- x --><n:a xmlns:n="urn:x" b=\'1 &amp; 2\'> <c/>t<![CDATA[<&>]]>&#x20ac;&#8364;&lt;</n:a>\n',
    );
    expect(node.name).toBe('a');
    expect(node.attributes.get('b')).toBe('1 & 2');
    expect(node.text).toBe(' t<&>€€<');
    expect(node.children.map(({ name }) => name)).toEqual(['c']);
  });

  const BOMB = `<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;">]><a>&y;</a>`;
  it.each([
    ['an entity bomb', BOMB],
    ['a document type', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
    ['an external entity', '<a>&xxe;</a>'],
    ['a parameter entity', '<!ENTITY % p "x"><a/>'],
    ['a processing instruction', '<?php system("x")?><a/>'],
    ['an include', '<a><?xml-stylesheet href="x"?></a>'],
    ['deep nesting', '<a>'.repeat(5_000)],
    ['deep nesting that is closed', '<a>'.repeat(21) + '</a>'.repeat(21)],
    ['too many elements', `<a>${'<b/>'.repeat(3_000)}</a>`],
    ['another encoding', '<?xml version="1.0" encoding="UTF-16"?><a/>'],
    ['a wrong end', '<a><b></a></b>'],
    ['no end', '<a><b></b>'],
    ['two roots', '<a/><b/>'],
    ['text outside', 'x<a/>'],
    ['nothing', ''],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['an attribute without quotes', '<a b=1/>'],
    ['a lone ampersand', '<a>R & D</a>'],
    ['a control character', '<a>\u0001</a>'],
    ['the number of a control character', '<a>&#1;</a>'],
    ['the number of a surrogate', '<a>&#xd800;</a>'],
    ['a number beyond Unicode', '<a>&#x110000;</a>'],
    ['a comment without end', '<a><!-- </a>'],
    ['an end tag with attributes', '<a></a b="1">'],
  ])('is refused with %s', (_what, text) => {
    expect(() => read(text)).toThrow(XmlError);
  });

  it('is read in linear time, however hostile', () => {
    const started = performance.now();
    expect(() => read(`<a ${'b="1" '.repeat(200_000)}`)).toThrow(XmlError);
    expect(() => read(`<${'a'.repeat(1_000_000)}`)).toThrow(XmlError);
    expect(() => read(`<a>${'&amp'.repeat(200_000)}</a>`)).toThrow(XmlError);
    expect(() => read('<'.repeat(1_000_000))).toThrow(XmlError);
    expect(() => read(`<a${' '.repeat(1_000_000)}`)).toThrow(XmlError);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});
