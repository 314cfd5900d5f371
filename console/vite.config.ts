import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** A service that runs beside `npm run console:dev`. */
const SERVICE = 'http://127.0.0.1:8080';
const proxied = (path: string) => [path, { target: SERVICE }] as const;

export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses: the service serves one build under any path.
  base: './',
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: {
      '@ferry/client': `${import.meta.dirname}/../packages/client/src/index.ts`,
      '~': `${import.meta.dirname}/src`,
    },
  },
  server: { proxy: Object.fromEntries(['/v2', '/signin', '/health', '/docs', '/openapi.json'].map(proxied)) },
  build: {
    // light-dark() and the rest of the baseline of 2024, unchanged.
    target: 'es2023',
    cssTarget: 'chrome123',
    // Everything is a file of its own: the content security policy allows no inline code, styles or data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Libraries change less often than screens, and are cached apart from them.
        codeSplitting: {
          groups: [{ name: 'vendor', test: /node_modules[\\/](react|react-dom|scheduler|@tanstack)[\\/]/ }],
        },
      },
    },
  },
});
