import { createClient } from '@hey-api/openapi-ts'
import { collectionOf } from '../documentation/collection.ts'
import type { JsonObject } from '../documentation/contract.ts'
import { requireUsedFragments, withFragments } from '../documentation/fragments.ts'
import { withGuide } from '../documentation/guide.ts'
import { withRfc9457 } from '../documentation/rfc9457.ts'
import { withSamples } from '../documentation/samples.ts'
import { DOCUMENT_NAMES, mergeContracts } from './mergeContracts.ts'
import { renderOperacionIndex } from './operationIndex.ts'
import { GENERATED_FOLDER, readBundle, requireFile, writeGenerated } from './places.ts'
import { toPublished, toServed, toServerContract, withoutForeignProblemas } from './publish.ts'
import { runInRoot } from './run.ts'
import { renderVocabulary } from './vocabulary.ts'

/**
 * Writes the bundles of the three APIs. Merges them into the server's contract, and writes its types and its
 * vocabulary.
 */
export async function generateContract() {
  await runInRoot('redocly', ['bundle'])
  const completeDocuments: JsonObject[] = []
  for (const document of DOCUMENT_NAMES) {
    const bundle = await readBundle(document)
    const completeDocument = withFragments(
      withRfc9457(document === 'comercios' ? withSamples(withGuide(bundle)) : bundle),
    )
    completeDocuments.push(completeDocument)
    const ownDocument = document === 'comercios' ? withoutForeignProblemas(completeDocument) : completeDocument
    await writeGenerated(`${document}.json`, JSON.stringify(toPublished(ownDocument), null, 2))
  }
  requireUsedFragments()
  await writeGenerated('coleccion.json', JSON.stringify(collectionOf(await readBundle('comercios')), null, 2))
  await writeServed(await readBundle('comercios'))
  const contract = toServerContract(mergeContracts(completeDocuments))
  await writeGenerated('contrato.json', JSON.stringify(contract))
  await writeGenerated('operations.ts', renderOperacionIndex(contract))
  await writeGenerated('vocabulary.ts', renderVocabulary(contract))
  await generateTypes(contract)
}

/** Writes the merchants' contract as the service serves it (`/openapi.json`, `/openapi.yaml`). */
async function writeServed(published: JsonObject) {
  await writeGenerated('openapi.json', JSON.stringify(toServed(published), null, 2))
  const [json = '', yaml = ''] = ['json', 'yaml'].map((type) => new URL(`openapi.${type}`, GENERATED_FOLDER).pathname)
  await runInRoot('redocly', ['bundle', json, '--output', yaml])
  await requireFile('server/generated/contract/openapi.yaml')
}

async function generateTypes(contract: JsonObject) {
  const options = { logs: { level: 'silent' as const }, parser: { transforms: { readWrite: false } } }
  await createClient({
    ...options,
    input: contract as never,
    output: { path: new URL('types', GENERATED_FOLDER).pathname, module: { extension: '.ts' } },
    plugins: ['@hey-api/typescript'],
  })
  await requireFile('server/generated/contract/types/types.gen.ts')
}
