/** The contract as the reading view shows it: what is only for programs is left out, what one works with is put in. */
import { DIRECCION } from '../../server/paginas/docs/direccion.ts'
import { type Json, type Objeto, operacionesDe } from './contrato.ts'
import { leerGuia } from './guia.ts'

/** What the schemas are called in the menu, and in their addresses. */
export const OBJETOS = 'Objetos'

/** The link that each operation, and each chapter, has to its Markdown. */
const enMarkdown = (ruta: string) => `[Ver como Markdown](docs/${ruta}.md)`

function conHerramientas(contrato: Objeto) {
  for (const { id, metodo, ruta, definicion } of operacionesDe(contrato)) {
    const acceso = `\`${metodo.toUpperCase()} ${ruta}\``
    const enlaces = [`[Probarla](docs/consola#${id})`, enMarkdown(`operaciones/${id}`)].join(' · ')
    definicion.description = [acceso, enlaces, definicion.description].join('\n\n')
    // Whoever copies it from here needs no variable.
    for (const muestra of definicion['x-codeSamples'] as Record<string, string>[]) {
      if (muestra.lang === 'bash') muestra.source = muestra.source!.replace('"$GUIAS_URL', `"${DIRECCION}`)
    }
  }
}

/** The guide with each chapter's link to its Markdown. */
function guiaConEnlaces(contrato: Objeto): string {
  const { introduccion, capitulos } = leerGuia(contrato)
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

/** A copy of the merchants' contract for Redoc. */
export function paraLeer(contrato: Objeto): Objeto {
  const copia = structuredClone(contrato)
  conHerramientas(copia)
  return {
    ...copia,
    info: { ...(copia.info as Objeto), description: guiaConEnlaces(copia) },
    servers: [{ url: DIRECCION, description: 'Este servicio' }],
    'x-tagGroups': [...(copia['x-tagGroups'] as Json[]), { name: 'Referencia', tags: [OBJETOS] }],
  }
}
