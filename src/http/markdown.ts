/**
 * The part of Markdown that the guides use: headings, paragraphs, lists, tables, code, links, bold and italic text. Everything else
 * is shown as it is written, and nothing is passed on as HTML.
 */
export type Rendered = {
  readonly html: string;
  readonly title: string;
  readonly headings: readonly { readonly level: number; readonly text: string; readonly id: string }[];
};

export type MarkdownOptions = {
  /** The address that a link leads to; undefined: its text is shown without a link. */
  linkTo(target: string): string | undefined;
  /** What is shown instead of code. */
  code?(text: string): string;
};

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** As GitHub makes it, so that links between the guides work in both places. */
export const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const plain = (text: string): string =>
  text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');

const codeOf = (text: string, { code }: MarkdownOptions): string => code?.(text) ?? text;

function inlineHtml(text: string, options: MarkdownOptions): string {
  // Code first: nothing inside of it is a link or bold. A control character, which no guide contains, keeps its place.
  const codes: string[] = [];
  return (
    escapeHtml(text.replaceAll(/`([^`]+)`/g, (_whole, code: string) => `\u0001${codes.push(code) - 1}\u0001`))
      // Pictures are in the repository; a guide shows what they are of.
      .replaceAll(/!\[([^\]]*)\]\([^)\s]+\)/g, '<em>$1</em>')
      .replaceAll(/\[((?:[^\][]|\[[^\]]*\])+)\]\(([^)\s]+)\)/g, (_whole, label: string, target: string) => {
        const to = options.linkTo(target.replaceAll('&amp;', '&'));
        return to === undefined ? label : `<a href="${escapeHtml(to)}">${label}</a>`;
      })
      .replaceAll(/&lt;(https?:[^\s&]+)&gt;/g, (_whole, address: string) => {
        const to = codeOf(address, options);
        return `<a href="${to}">${to}</a>`;
      })
      .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
      .replaceAll(/(^|[\s(])\*([^*\s][^*]*)\*/g, '$1<em>$2</em>')
      .split('\u0001')
      .map((piece, index) =>
        index % 2 === 1 ? `<code>${escapeHtml(codeOf(codes[Number(piece)]!, options))}</code>` : piece,
      )
      .join('')
  );
}

const FENCE = /^\s*```(\w*)\s*$/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)(-|\d+\.)\s+(.*)$/;
const TABLE_RULE = /^\s*\|?(\s*:?-+:?\s*\|)+\s*:?-*:?\s*$/;

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

type Lines = { readonly all: readonly string[]; at: number };

const startsBlock = (line: string): boolean =>
  line.trim() === '' || FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || line.startsWith('|');

function readCode(lines: Lines, options: MarkdownOptions): string {
  const [, language = ''] = FENCE.exec(lines.all[lines.at]!)!;
  const indent = /^\s*/.exec(lines.all[lines.at]!)![0].length;
  const text: string[] = [];
  for (lines.at += 1; lines.at < lines.all.length && !FENCE.test(lines.all[lines.at]!); lines.at += 1)
    text.push(lines.all[lines.at]!.slice(indent));
  lines.at += 1;
  return `<pre tabindex="0"${language === '' ? '' : ` data-language="${language}"`}><code>${escapeHtml(codeOf(text.join('\n'), options))}</code></pre>`;
}

function readTable(lines: Lines, options: MarkdownOptions): string {
  const row = (line: string, tag: 'td' | 'th'): string =>
    `<tr>${cellsOf(line)
      .map((cell) => `<${tag}>${inlineHtml(cell, options)}</${tag}>`)
      .join('')}</tr>`;
  const head = row(lines.all[lines.at]!, 'th');
  const body: string[] = [];
  for (lines.at += 2; lines.all[lines.at]?.trimStart().startsWith('|') === true; lines.at += 1)
    body.push(row(lines.all[lines.at]!, 'td'));
  return `<div class="wide" role="region" aria-label="Table" tabindex="0"><table><thead>${head}</thead><tbody>${body.join('')}</tbody></table></div>`;
}

/** The lines of one item, without its indentation, are blocks of their own: lists and code inside of items. */
function readList(lines: Lines, options: MarkdownOptions): string {
  const [, indent = '', marker = ''] = ITEM.exec(lines.all[lines.at]!)!;
  const items: string[] = [];
  for (;;) {
    const found = ITEM.exec(lines.all[lines.at] ?? '');
    if (found === null || found[1] !== indent) break;
    const own = [found[3]!];
    const inner = indent.length + found[2]!.length + 1;
    for (lines.at += 1; lines.at < lines.all.length; lines.at += 1) {
      const line = lines.all[lines.at]!;
      const isBlank = line.trim() === '';
      const deeper = /^\s*/.exec(line)![0].length > indent.length;
      if (!deeper && !isBlank && startsBlock(line)) break;
      if (isBlank && !/^\s{2,}\S/.test(lines.all[lines.at + 1] ?? '')) break;
      own.push(deeper ? line.slice(Math.min(inner, /^\s*/.exec(line)![0].length)) : line);
    }
    const html = blocksOf({ all: own, at: 0 }, options, []);
    // An item of one paragraph is shown without the space around paragraphs.
    items.push(`<li>${html.replace(/^<p>(.*?)<\/p>/s, '$1')}</li>`);
    while (lines.all[lines.at]?.trim() === '' && ITEM.exec(lines.all[lines.at + 1] ?? '')?.[1] === indent)
      lines.at += 1;
  }
  const tag = marker === '-' ? 'ul' : 'ol';
  return `<${tag}>${items.join('')}</${tag}>`;
}

function readParagraph(lines: Lines, options: MarkdownOptions): string {
  const text = [lines.all[lines.at]!.trim()];
  for (lines.at += 1; lines.at < lines.all.length && !startsBlock(lines.all[lines.at]!); lines.at += 1)
    text.push(lines.all[lines.at]!.trim());
  return `<p>${inlineHtml(text.join('\n'), options)}</p>`;
}

type Heading = Rendered['headings'][number];

function readHeading(lines: Lines, options: MarkdownOptions, headings: Heading[]): string {
  const [, marks = '', text = ''] = HEADING.exec(lines.all[lines.at]!)!;
  lines.at += 1;
  const id = anchorOf(plain(text));
  headings.push({ level: marks.length, text: plain(text), id });
  return `<h${marks.length} id="${escapeHtml(id)}">${inlineHtml(text, options)}</h${marks.length}>`;
}

function blocksOf(lines: Lines, options: MarkdownOptions, headings: Heading[]): string {
  const made: string[] = [];
  while (lines.at < lines.all.length) {
    const line = lines.all[lines.at]!;
    if (line.trim() === '') lines.at += 1;
    else if (FENCE.test(line)) made.push(readCode(lines, options));
    else if (HEADING.test(line)) made.push(readHeading(lines, options, headings));
    else if (ITEM.test(line)) made.push(readList(lines, options));
    else if (line.startsWith('|') && TABLE_RULE.test(lines.all[lines.at + 1] ?? ''))
      made.push(readTable(lines, options));
    else made.push(readParagraph(lines, options));
  }
  return made.join('\n');
}

export function renderMarkdown(text: string, options: MarkdownOptions): Rendered {
  const headings: Heading[] = [];
  const html = blocksOf({ all: text.split('\n'), at: 0 }, options, headings);
  return { html, title: headings.find(({ level }) => level === 1)?.text ?? '', headings };
}
