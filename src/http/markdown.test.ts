import { describe, expect, it } from 'vitest';
import { renderMarkdown } from './markdown.ts';

const render = (text: string): string => renderMarkdown(text, { linkTo: (target) => `to:${target}` }).html;

describe('Markdown of the guides', () => {
  it('has headings with the anchors that GitHub gives them', () => {
    expect(render('## How to make a rail `misbehave`')).toBe(
      '<h2 id="how-to-make-a-rail-misbehave">How to make a rail <code>misbehave</code></h2>',
    );
  });

  it('joins the lines of a paragraph, and shows HTML as it is written', () => {
    expect(render('a <b>\nc')).toBe('<p>a &lt;b&gt;\nc</p>');
  });

  it('has links, bold and italic text, but not inside of code', () => {
    expect(render('[**x**](y.md) *z* `[a](b) **c**`')).toBe(
      '<p><a href="to:y.md"><strong>x</strong></a> <em>z</em> <code>[a](b) **c**</code></p>',
    );
  });

  it('links an address in angle brackets, as the reader gets it', () => {
    const { html } = renderMarkdown('at <http://localhost:8080/signin>: a', {
      linkTo: () => undefined,
      code: (text) => text.replace('http://localhost:8080', 'https://pay.example'),
    });
    expect(html).toBe('<p>at <a href="https://pay.example/signin">https://pay.example/signin</a>: a</p>');
  });

  it('shows the text of a link that leads nowhere', () => {
    expect(renderMarkdown('[x](y)', { linkTo: () => undefined }).html).toBe('<p>x</p>');
  });

  it('has lists inside of lists, and code inside of items', () => {
    expect(render('- a\n  b\n  - c\n- d\n\n  ```bash\n  e\n  ```')).toBe(
      '<ul><li>a\nb\n<ul><li>c</li></ul></li><li>d\n<pre tabindex="0" data-language="bash"><code>e</code></pre></li></ul>',
    );
    expect(render('1. a\n2. b')).toBe('<ol><li>a</li><li>b</li></ol>');
  });

  it('has tables', () => {
    expect(render('| a | b |\n|---|---|\n| `c` | d \\| e |')).toContain(
      '<thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>c</code></td><td>d | e</td></tr></tbody>',
    );
  });

  it('keeps code as it is, apart from what the reader gets instead', () => {
    const { html } = renderMarkdown('```ts\nconst a = "<b>";\n\nx\n```', {
      linkTo: () => undefined,
      code: (text) => text.replace('x', 'y'),
    });
    expect(html).toBe(
      '<pre tabindex="0" data-language="ts"><code>const a = &quot;&lt;b&gt;&quot;;\n\ny</code></pre>',
    );
  });
});
