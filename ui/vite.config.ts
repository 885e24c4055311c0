import { defineConfig } from 'vite';

// `npm run dev` shows the page of a server that runs: FATHOM_UI=http://127.0.0.1:7070 npm run dev
const server = process.env.FATHOM_UI ?? 'http://127.0.0.1:7070';

export default defineConfig({
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { proxy: { '/api': { target: server, changeOrigin: true } } },
});
