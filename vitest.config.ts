import { defineConfig } from 'vitest/config'
import { EXCLUDED_FROM_CITUS } from './test/citus/excluded.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.CITUS_URL ? Object.keys(EXCLUDED_FROM_CITUS) : ['test/citus/**'],
    globalSetup: ['test/setup.ts'],
    reporters: ['default', './test/reporter.ts'],
    tags: [
      { name: 'slow', description: 'tests that take minutes: `npm run test:slow`' },
      { name: 'nodos', description: 'tests that remove nodes of a cluster: last in `npm run test:citus`' },
      { name: 'postgres', description: 'tests for a single PostgreSQL: not in `npm run test:citus`' },
    ],
    pool: 'forks',
    // Test files in one worker share its modules and, with `shareEnvironment`, one service.
    isolate: false,
    // More workers than the two cores of the smallest supported machine: tests wait for browsers and other processes.
    maxWorkers: 4,
    // A young generation as large as the service's (`npm start`): the collector runs less often.
    execArgv: ['--expose-gc', '--max-semi-space-size=64'],
    // Long timeouts, so that tests also pass on a slow machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
    coverage: { provider: 'v8', include: ['server/**/*.ts', 'sdk/src/**/*.ts'], exclude: ['**/generated/**'] },
  },
})
