/**
 * Pipeline of all generators: contract → bundle → server types → vocabulary → Prisma client → SDK → documentation →
 * validators. All output goes into folders named `generado` or `dist`, which git ignores.
 */
import { mkdir, rm } from 'node:fs/promises'
import { generateContract } from './generar/contrato.ts'
import { generateDocumentation } from './generar/documentacion.ts'
import { GENERATED_FOLDER } from './generar/lugares.ts'
import { generatePages } from './generar/paginas.ts'
import { generatePrisma } from './generar/prisma.ts'
import { generateSdk } from './generar/sdk.ts'
import { generateServer } from './generar/servidor.ts'
import { generateValidators } from './generar/validadores.ts'

// The argument `servidor` bundles only the server and its pages, for when nothing else has changed. `paginas` bundles
// only the pages.
if (!['servidor', 'paginas'].includes(process.argv[2] ?? '')) {
  await rm(GENERATED_FOLDER, { recursive: true, force: true })
  await mkdir(GENERATED_FOLDER, { recursive: true })
  await Promise.all([generatePrisma(), generateContract()])
  await Promise.all([generateSdk(), generateDocumentation()])
}
await generatePages(new URL('paginas/', GENERATED_FOLDER))
if (process.argv[2] !== 'paginas') {
  await generateValidators()
  await generateServer()
}
