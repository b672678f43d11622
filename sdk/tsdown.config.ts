import { defineConfig, type UserConfig } from 'tsdown'

/** Modules that merchants import. */
const LIBRARY: UserConfig = {
  cwd: import.meta.dirname,
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  target: 'es2022',
  sourcemap: true,
  clean: false,
}

/** Build of a program that is one file. */
export const PROGRAM: UserConfig = {
  format: 'esm',
  outExtensions: () => ({ js: '.js' }),
  dts: false,
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  clean: false,
}

/** Keeps imports of the package by its name, instead of bundling it. */
const WITHOUT_SDK: UserConfig = { deps: { neverBundle: [/^@guias\/sdk/] } }

export default defineConfig([
  { ...LIBRARY, entry: ['src/index.ts', 'src/telefono.ts'] },
  // Built separately, because types that two entries share would be moved to a third file.
  { ...LIBRARY, entry: ['src/hoja.ts'] },
  // The command line is a separate bundle, which adds nothing to the size of the library.
  { ...PROGRAM, ...WITHOUT_SDK, cwd: import.meta.dirname, entry: { cli: 'cli/main.ts' } },
  // These entries import the package instead of bundling it, so that they use the same classes as the merchant's client.
  { ...LIBRARY, ...WITHOUT_SDK, entry: { pruebas: 'pruebas/index.ts' } },
  { ...LIBRARY, ...WITHOUT_SDK, entry: ['entries/*.ts'] },
])
