import type { Arbol } from './arbol.ts'
import type { Nueva } from './operacion.ts'

/** Expressions that create the object that a path parameter names, for `test/bitacora/operaciones.test.ts`. */
const ESCENAS: Readonly<Record<string, string>> = {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: source code that is written to a file
  guia: '${await nuevaGuia()}',
  webhook: '${await nuevoWebhook()}',
  comercio: '${comercio.comercio}',
  operador: '${operador}',
  llave: '${await nuevaLlave()}',
  repartidor: '${(await nuevoRepartidor()).repartidor}',
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: source code that is written to a file
}

/** Returns a path as a literal of TypeScript, with a value for each of its parameters. */
function literal({ rutaCorta, parametros }: Nueva, valores: Readonly<Record<string, string>>): string {
  const llena = parametros.reduce(
    (ruta, { nombre, ejemplo }) => ruta.replace(`{${nombre}}`, valores[nombre] ?? ejemplo),
    rutaCorta,
  )
  return llena.includes('${') ? `\`${llena}\`` : `'${llena}'`
}

function prueba(nueva: Nueva): string {
  const { documento, metodo, ruta, conCuerpo, conResultado, parametros } = nueva
  const esDeComercios = documento === 'comercios'
  const conGuia = parametros.some(({ nombre }) => nombre === 'guia')
  const conComercio = parametros.some(({ nombre }) => nombre === 'comercio')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: source code that is written to a file
  const valores = { guia: '${guia}', comercio: '${comercio.comercio}' }
  const camino = literal(nueva, valores)
  const completo = esDeComercios ? camino.replace('/', '/api/v1/') : camino
  const cuerpo = conCuerpo ? "{ descripcion: 'El cliente lo pidió' }" : ''
  const opciones = `{ llave: comercio.llave${cuerpo && `, cuerpo: ${cuerpo}`} }`
  const verbo = metodo.toUpperCase()
  const pedido = esDeComercios
    ? `entorno.pedir('${verbo}', ${completo}, ${opciones})`
    : `entorno.operar('${verbo}', ${camino}${cuerpo && `, ${cuerpo}`})`
  return `import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
${conGuia ? "import { unaGuia } from '../fabricas.ts'\n" : ''}
const entorno = compartirEntorno()

describe('${verbo} ${ruta}', () => {
  it('answers what the contract says', async () => {
${esDeComercios || conGuia || conComercio ? '    const comercio = await entorno.nuevoComercio()\n' : ''}${conGuia ? '    const { guia } = await comercio.api.guias.crear(unaGuia())\n' : ''}    const { status, cuerpo } = await ${pedido}
    expect(entorno.log.filter((linea) => linea.includes('${nueva.id}: not implemented'))).toEqual([])
    expect([status, cuerpo]).toEqual([${conResultado ? '200, { registrado_en: expect.any(String) }' : '204, undefined'}])
  })
})
`
}

/** Adds the handler, its line in the table of handlers, its test, and its case in the test of the audit record. */
export function agregarAlServidor(arbol: Arbol, nueva: Nueva) {
  const { id, documento, metodo, carpeta, archivo, conCuerpo } = nueva
  arbol.crear(
    `server/domain/${carpeta}/${archivo}.ts`,
    `import type { Handler } from '../operation.ts'

export const ${id}: Handler<'${id}'> = async () => {
  throw new Error('${id}: not implemented')
}
`,
  )
  const tabla = 'server/startup/handlers.ts'
  arbol.cambiar(tabla, /^/, () => `import { ${id} } from '../domain/${carpeta}/${archivo}.ts'\n`)
  arbol.cambiar(tabla, /^} satisfies Handlers$/m, (fin) => `  ${id},\n${fin}`)
  arbol.crear(nueva.prueba, prueba(nueva))
  const de = documento === 'comercios' ? 'suya' : 'operar'
  const camino = literal(nueva, ESCENAS)
  const escena = `  ${id}: async () => ya(${de}('${metodo.toUpperCase()}', ${camino}${conCuerpo ? ', {}' : ''})),\n`
  const seccion = documento === 'comercios' ? '  // Of couriers\n' : '  // Of merchants\n'
  arbol.cambiar('test/bitacora/operaciones.test.ts', seccion, (siguiente) => escena + siguiente)
}
