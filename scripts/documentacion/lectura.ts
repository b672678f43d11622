/**
 * Prepares the contract for the reading view, the documentation's page that Redoc makes. Adds the method and path of
 * each operation, links to the console and to Markdown, and the menu's groups.
 */
import { DIRECCION } from '../../server/pages/docs/direccion.ts'
import { type Json, type Objeto, operacionesDe } from './contrato.ts'
import { leerGuiaDelContrato } from './guia.ts'

/** Name of the schemas' group in the menu and in addresses. */
export const OBJETOS = 'Objetos'

/** Returns the link of an operation or a chapter to its Markdown. */
const enMarkdown = (ruta: string) => `[Ver como Markdown](docs/${ruta}.md)`

function conHerramientas(contrato: Objeto) {
  for (const { id, metodo, ruta, definicion } of operacionesDe(contrato)) {
    const acceso = `\`${metodo.toUpperCase()} ${ruta}\``
    const enlaces = [`[Probarla](docs/consola#${id})`, enMarkdown(`operaciones/${id}`)].join(' · ')
    definicion.description = [acceso, enlaces, definicion.description].join('\n\n')
    // In the page, the sample contains the service's address, so that readers can copy it without setting a variable.
    for (const muestra of definicion['x-codeSamples'] as Record<string, string>[]) {
      if (muestra.lang === 'bash') muestra.source = muestra.source!.replace('"$GUIAS_URL', `"${DIRECCION}`)
    }
  }
}

/** Returns the introduction and the guide, with a link to the Markdown of each chapter. */
function guideOf(contrato: Objeto): string {
  const { introduccion, capitulos } = leerGuiaDelContrato(contrato)
  return [
    introduccion,
    ...capitulos.flatMap(({ titulo, nombre, texto, partes }) => [
      `# ${titulo}`,
      enMarkdown(`guia/${nombre}`),
      texto,
      ...partes.flatMap((parte) => [`## ${parte.titulo}`, parte.texto]),
    ]),
  ].join('\n\n')
}

/** Returns a copy of the merchants' contract for Redoc. */
export function paraLeer(contrato: Objeto): Objeto {
  const copia = structuredClone(contrato)
  conHerramientas(copia)
  // The page contains the guide itself.
  delete copia.externalDocs
  return {
    ...copia,
    info: { ...(copia.info as Objeto), description: guideOf(copia) },
    servers: [{ url: DIRECCION, description: 'Este servicio' }],
    'x-tagGroups': [...(copia['x-tagGroups'] as Json[]), { name: 'Referencia', tags: [OBJETOS] }],
  }
}
