/**
 * Pipeline of all generators: contract → bundle → server types → vocabulary → Prisma client → SDK → documentation →
 * validators. All output goes into folders named `generado` or `dist`, which git ignores.
 */
import { mkdir, rm } from 'node:fs/promises'
import { generarContrato } from './generar/contrato.ts'
import { generarDocumentacion } from './generar/documentacion.ts'
import { CARPETA } from './generar/lugares.ts'
import { generarPaginas } from './generar/paginas.ts'
import { generarPrisma } from './generar/prisma.ts'
import { generarSdk } from './generar/sdk.ts'
import { generarServidor } from './generar/servidor.ts'
import { generarValidadores } from './generar/validadores.ts'

// The argument `servidor` bundles only the server and its pages, for when nothing else has changed. `paginas` bundles
// only the pages.
if (!['servidor', 'paginas'].includes(process.argv[2] ?? '')) {
  await rm(CARPETA, { recursive: true, force: true })
  await mkdir(CARPETA, { recursive: true })
  await Promise.all([generarPrisma(), generarContrato()])
  await Promise.all([generarSdk(), generarDocumentacion()])
}
await generarPaginas(new URL('paginas/', CARPETA))
if (process.argv[2] !== 'paginas') {
  await generarValidadores()
  await generarServidor()
}
