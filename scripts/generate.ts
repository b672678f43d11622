/**
 * Pipeline of all generators: contract → bundle → server types → vocabulary → Prisma client → SDK → documentation →
 * validators. All output goes into folders named `generated` or `dist`, which git ignores.
 */
import { mkdir, rm } from 'node:fs/promises'
import { generateContract } from './generate/contract.ts'
import { generateDocumentation } from './generate/documentation.ts'
import { generatePages } from './generate/pages.ts'
import { GENERATED_FOLDER } from './generate/places.ts'
import { generatePrisma } from './generate/prisma.ts'
import { generateSdk } from './generate/sdk.ts'
import { generateServer } from './generate/server.ts'
import { generateValidators } from './generate/validators.ts'

// The argument `server` bundles only the server and its pages, for when nothing else has changed. `pages` bundles
// only the pages.
if (!['server', 'pages'].includes(process.argv[2] ?? '')) {
  await rm(GENERATED_FOLDER, { recursive: true, force: true })
  await mkdir(GENERATED_FOLDER, { recursive: true })
  await Promise.all([generatePrisma(), generateContract()])
  await Promise.all([generateSdk(), generateDocumentation()])
}
await generatePages(new URL('pages/', GENERATED_FOLDER))
if (process.argv[2] !== 'pages') {
  await generateValidators()
  await generateServer()
}
