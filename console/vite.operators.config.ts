import { defineConfig } from 'vite'

// The pages for operators are a build of their own, so that nothing of them is in the page for visitors.
export default defineConfig({
  root: 'src/operators',
  base: './',
  build: {
    outDir: '../../operators/dist',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the pages allows no data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
