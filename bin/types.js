// Node runs TypeScript by stripping its types, but refuses to under node_modules, which is where npm installs this package.
// This does for Ferry's own files what Node does for those of a checkout. Loaded with --import, so that workers have it too.
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

const SOURCES = new URL('../src/', import.meta.url).href;
/** `npm run pack` puts the stripped files here, which saves a second of every start. Plain `npm pack` does not. */
const STRIPPED = new URL('../dist/', import.meta.url).href;
const isStripped = existsSync(new URL(STRIPPED));

const read = (url) => readFileSync(new URL(url), 'utf8');

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(SOURCES) || !url.endsWith('.ts')) return nextLoad(url, context);
    const source = isStripped ? read(STRIPPED + url.slice(SOURCES.length)) : stripTypeScriptTypes(read(url));
    return { format: 'module', shortCircuit: true, source };
  },
});
