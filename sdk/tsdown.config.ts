import { defineConfig } from 'tsdown'

export default defineConfig({
  cwd: import.meta.dirname,
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  target: 'es2022',
  clean: true,
})
