import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/preparacion.ts'],
    reporters: ['default', './test/reportero.ts'],
    pool: 'forks',
    maxWorkers: 2,
    execArgv: ['--expose-gc'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { provider: 'v8', include: ['server/**/*.ts', 'sdk/src/**/*.ts'], exclude: ['**/generado/**'] },
  },
})
