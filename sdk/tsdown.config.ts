import { defineConfig } from 'tsdown'

export default defineConfig([
  {
    cwd: import.meta.dirname,
    entry: ['src/index.ts', 'src/telefono.ts'],
    format: ['esm', 'cjs'],
    dts: true,
    platform: 'neutral',
    target: 'es2022',
    sourcemap: true,
    clean: false,
  },
  // The command line is a separate bundle that imports the package by its name. It therefore adds nothing to the size
  // of the library.
  {
    cwd: import.meta.dirname,
    entry: { cli: 'cli/principal.ts' },
    format: 'esm',
    outExtensions: () => ({ js: '.js' }),
    dts: false,
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    clean: false,
    deps: { neverBundle: [/^@guias\/sdk/] },
  },
])
