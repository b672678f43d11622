import { defineConfig } from 'vitest/config'
import { SIN_CITUS } from './test/citus/excluidas.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.CITUS_URL ? Object.keys(SIN_CITUS) : ['test/citus/**'],
    globalSetup: ['test/preparacion.ts'],
    reporters: ['default', './test/reportero.ts'],
    tags: [
      { name: 'completo', description: 'what needs minutes: `npm run test:completo`' },
      { name: 'nodos', description: 'what takes nodes of a cluster away: last in `npm run test:citus`' },
      { name: 'postgres', description: 'how PostgreSQL itself does it: not in `npm run test:citus`' },
    ],
    pool: 'forks',
    // Files of a worker share its modules and, where they ask for it, one service (compartirEntorno).
    isolate: false,
    maxWorkers: 3,
    execArgv: ['--expose-gc'],
    // A slow machine waits, it doesn't fail.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
    coverage: { provider: 'v8', include: ['server/**/*.ts', 'sdk/src/**/*.ts'], exclude: ['**/generado/**'] },
  },
})
