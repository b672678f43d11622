/**
 * Prepares the contract for the reading view, the documentation's page that Redoc makes. Adds the method and path of
 * each operation, links to the console and to Markdown, and the menu's groups.
 */
import { DIRECCION } from '../../server/pages/docs/address.ts'
import { ABOUT_KEYS } from '../../server/pages/docs/bar.ts'
import { type Json, type JsonObject, operacionesOf } from './contract.ts'
import { readContractGuide, summaryOf } from './guide.ts'

/** Name of the schemas' group in the menu and in addresses. */
export const SCHEMAS_GROUP = 'Objetos'

function addTools(contract: JsonObject) {
  for (const { id, method, path, definition } of operacionesOf(contract)) {
    const methodAndPath = `\`${method.toUpperCase()} ${path}\``
    const links = [`[Probarla](docs/consola#${id})`, `[Ver como Markdown](docs/operaciones/${id}.md)`].join(' · ')
    definition.description = [methodAndPath, links, definition.description].join('\n\n')
    // In the page, the sample contains the service's address, so that readers can copy it without setting a variable.
    for (const sample of definition['x-codeSamples'] as Record<string, string>[]) {
      if (sample.lang === 'bash') sample.source = sample.source!.replace('"$GUIAS_URL', `"${DIRECCION}`)
    }
  }
}

/** Returns the introduction, and what each chapter is about with a link to its page. */
function introductionOf(contract: JsonObject): string {
  const { introduction, guideChapters } = readContractGuide(contract)
  return [
    introduction,
    `**${ABOUT_KEYS.question}** ${ABOUT_KEYS.answer}`,
    ...guideChapters.flatMap((chapter) => [
      `# ${chapter.titulo}`,
      `${summaryOf(chapter).replaceAll('<', '&lt;')} [Leer el capítulo](docs/${chapter.nombre})`,
    ]),
  ].join('\n\n')
}

/** Changes the links of texts to chapters and errors into links to the chapters' pages. */
const withChapterPages = (contract: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify(contract)
      .replace(/\]\(#\/section\/([\w.-]+)\/([\w.-]+)\)/g, '](docs/$1#$2)')
      .replace(/\]\(#\/section\/([\w.-]+)\)/g, '](docs/$1)')
      .replace(/\]\(#error-(\w+)\)/g, '](docs/errores#error-$1)'),
  )

/** Returns a copy of the merchants' contract for Redoc. */
export function toReadingContract(contract: JsonObject): JsonObject {
  const copy = withChapterPages(contract)
  addTools(copy)
  // The page links to the guide itself.
  delete copy.externalDocs
  return {
    ...copy,
    info: { ...(copy.info as JsonObject), description: introductionOf(copy) },
    servers: [{ url: DIRECCION, description: 'Este servicio' }],
    'x-tagGroups': [...(copy['x-tagGroups'] as Json[]), { name: 'Referencia', tags: [SCHEMAS_GROUP] }],
  }
}
