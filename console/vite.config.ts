import { defineConfig } from 'vitest/config'

import { coast } from './coast.ts'

// The edge's address in development. `npm run dev` passes requests on to it.
const edge = process.env.WAYBOOK_EDGE ?? 'http://127.0.0.1:8080'

export default defineConfig({
  // The page is at / and its files are below /console/. Addresses are relative, so that a proxy may
  // put a prefix before both.
  base: './',
  experimental: {
    renderBuiltUrl: (filename, { hostType }) => (hostType === 'html' ? `./console/${filename}` : { relative: true }),
  },
  plugins: [coast()],
  build: {
    target: 'es2022',
    // The policy of the page allows no data: address but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    // What all pages of content need is one file; the code of some of them alone would be parts of it otherwise.
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              name: 'ContentView',
              test: /src\/(read\/(?!ReadView|Home|OverviewMap|overview|UserView|AddPhotos|uploads|Lightbox)|map\/(paint|base|shapes|colours)\.)|countries-50m/,
            },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/API.php': edge,
      '/console/operations.json': edge,
      '/console/failures.json': edge,
      '/upload': edge,
      '/console/health.json': edge,
      '/console/session': edge,
    },
  },
  // A busy machine may take long; a test that hangs ends.
  test: { include: ['test/**/*.test.ts'], environment: 'node', testTimeout: 60_000 },
})
