// Serves the description of the operations to the page in development with WAYBOOK_MOCK=1.

import type { Plugin } from 'vite'
import { operations } from './operations.ts'

export const mock = (): Plugin => ({
  name: 'waybook-mock',
  apply: 'serve',
  configureServer(server) {
    server.middlewares.use('/console/operations.json', (_request, response) => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(operations))
    })
  },
})
