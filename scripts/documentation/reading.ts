/**
 * Prepares the contract for the reading view, the documentation's page that Redoc makes. Adds the method and path of
 * each operation, links to the console and to Markdown, and the menu's groups.
 */
import { DIRECCION } from '../../server/pages/docs/address.ts'
import { type Json, type JsonObject, operacionesOf } from './contract.ts'
import { readContractGuide } from './guide.ts'

/** Name of the schemas' group in the menu and in addresses. */
export const SCHEMAS_GROUP = 'Objetos'

/** Returns the link of an operation or a chapter to its Markdown. */
const asMarkdown = (path: string) => `[Ver como Markdown](docs/${path}.md)`

function addTools(contract: JsonObject) {
  for (const { id, method, path, definition } of operacionesOf(contract)) {
    const methodAndPath = `\`${method.toUpperCase()} ${path}\``
    const links = [`[Probarla](docs/consola#${id})`, asMarkdown(`operaciones/${id}`)].join(' · ')
    definition.description = [methodAndPath, links, definition.description].join('\n\n')
    // In the page, the sample contains the service's address, so that readers can copy it without setting a variable.
    for (const sample of definition['x-codeSamples'] as Record<string, string>[]) {
      if (sample.lang === 'bash') sample.source = sample.source!.replace('"$GUIAS_URL', `"${DIRECCION}`)
    }
  }
}

/** Returns the introduction and the guide, with a link to the Markdown of each chapter. */
function guideOf(contract: JsonObject): string {
  const { introduction, guideChapters } = readContractGuide(contract)
  return [
    introduction,
    ...guideChapters.flatMap(({ titulo, nombre, texto, parts }) => [
      `# ${titulo}`,
      asMarkdown(`guia/${nombre}`),
      texto,
      ...parts.flatMap((part) => [`## ${part.titulo}`, part.texto]),
    ]),
  ].join('\n\n')
}

/** Returns a copy of the merchants' contract for Redoc. */
export function toReadingContract(contract: JsonObject): JsonObject {
  const copy = structuredClone(contract)
  addTools(copy)
  // The page contains the guide itself.
  delete copy.externalDocs
  return {
    ...copy,
    info: { ...(copy.info as JsonObject), description: guideOf(copy) },
    servers: [{ url: DIRECCION, description: 'Este servicio' }],
    'x-tagGroups': [...(copy['x-tagGroups'] as Json[]), { name: 'Referencia', tags: [SCHEMAS_GROUP] }],
  }
}
