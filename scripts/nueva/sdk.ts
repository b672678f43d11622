import { readdirSync } from 'node:fs'
import { mayuscula } from '../generar/indiceDeOperaciones.ts'
import type { Arbol } from './arbol.ts'
import { comoLlamada, esquemaDeDatos, type Nueva, resultadoDe } from './operacion.ts'

/** Returns the resource that calls an operation; guides are the default. */
function recursoDe(arbol: Arbol, operacion: string): string {
  const recursos = readdirSync(new URL('../../sdk/src/', import.meta.url)).filter((uno) => /^recurso\w+\.ts$/.test(uno))
  const suyo = recursos.find((uno) => arbol.leer(`sdk/src/${uno}`).includes(`'${operacion}'`)) ?? 'recursoGuias.ts'
  return suyo.slice('recurso'.length, -'.ts'.length)
}

/** Adds names to the types that a file imports from the generated ones, or re-exports. */
function nombrarTipos(arbol: Arbol, archivo: string, marca: RegExp, tipos: readonly string[]) {
  arbol.cambiar(archivo, marca, (hallado) => hallado.replace('{', `{ ${tipos.join(', ')},`))
}

/** Gives a resource of the SDK that has only list methods the function for single requests. */
function permitirPedir(arbol: Arbol, archivo: string) {
  const texto = arbol.leer(archivo)
  if (!texto.includes("readonly #pedir: Cliente['pedir']")) {
    arbol.cambiar(archivo, /^ {2}readonly #/m, (hallado) => `  readonly #pedir: Cliente['pedir']\n${hallado}`)
    arbol.cambiar(archivo, /constructor\(\{ (.+) \}: Cliente(.*)\) \{\n/, (hallado) =>
      hallado.replace('{ ', '{ pedir, ').concat('    this.#pedir = pedir\n'),
    )
  }
  if (!/import (?:type )?\{ Solicitud \}/.test(texto))
    arbol.cambiar(archivo, /^/, () => `import type { Solicitud } from './solicitud.js'\n`)
}

/**
 * Adds the SDK method for the operation, the check of its answer, its code sample, and its case in the test of retries.
 */
export function agregarAlSdk(arbol: Arbol, nueva: Nueva) {
  const { id, archivo: verbo, conCuerpo, conResultado, parametros, repetible } = nueva
  const recurso = recursoDe(arbol, nueva.vecina)
  const api = recurso.toLowerCase()
  const archivo = `sdk/src/recurso${recurso}.ts`
  const metodo = new RegExp(`^ {2}${verbo}\\(`, 'm').test(arbol.leer(archivo)) ? id : verbo
  const resultado = conResultado ? resultadoDe(nueva) : 'void'
  const tipos = [...(conCuerpo ? [esquemaDeDatos(nueva)] : []), ...(conResultado ? [resultado] : [])]

  const formas = 'sdk/src/formas.ts'
  const forma = conResultado ? `es${mayuscula(resultado)}` : 'esNada'
  if (conResultado) {
    nombrarTipos(arbol, formas, /import type \{[^}]*\} from '\.\/generado\/types\.gen\.js'/, [resultado])
    arbol.cambiar(
      formas,
      '/** Accepts a guide, or status 304 (undefined): the guide has not changed. */',
      (siguiente) => {
        const firma = `export const ${forma} = (datos: unknown): datos is ${resultado}`
        return `${firma} => conTextos(datos, 'registrado_en')\n\n${siguiente}`
      },
    )
  }
  if (!new RegExp(`\\b${forma}\\b`).test(arbol.leer(archivo))) {
    const yaImporta = /import \{ (.+) \} from '\.\/formas\.js'/
    if (yaImporta.test(arbol.leer(archivo)))
      arbol.cambiar(archivo, yaImporta, (hallado) => hallado.replace('{', `{ ${forma},`))
    else arbol.cambiar(archivo, /^/, () => `import { ${forma} } from './formas.js'\n`)
  }

  permitirPedir(arbol, archivo)
  if (tipos.length > 0) {
    nombrarTipos(arbol, archivo, /import type \{[^}]*\} from '\.\/generado\/types\.gen\.js'/, tipos)
    nombrarTipos(arbol, 'sdk/src/index.ts', /export type \{[^}]*\} from '\.\/generado\/types\.gen\.js'/, tipos)
  }
  const firma = [
    ...parametros.map(({ nombre }) => `${nombre}: string`),
    ...(conCuerpo ? [`datos?: ${esquemaDeDatos(nueva)}`] : []),
    'opciones?: OpcionesDeSolicitud',
  ]
  const partes = [
    ...(parametros.length > 0 ? [`path: { ${parametros.map(({ nombre }) => nombre).join(', ')} }`] : []),
    ...(conCuerpo ? ['body: datos'] : []),
  ]
  const cuerpoDelMetodo = [
    '',
    '  /** Qué hace, y con qué error falla. */',
    `  ${metodo}(${firma.join(', ')}): Solicitud<${resultado}> {`,
    `    return this.#pedir('${comoLlamada(nueva.metodo, nueva.rutaCorta)}', { ${partes.join(', ')} }, opciones, ${forma})`,
    '  }',
    '}',
    '',
  ].join('\n')
  arbol.cambiar(archivo, /^export class [\s\S]*?\n\}\n/m, (clase) => clase.slice(0, -'}\n'.length) + cuerpoDelMetodo)

  const ejemplos = parametros.map(({ ejemplo }) => `'${ejemplo}'`)
  const cuerpo = conCuerpo ? ["{ descripcion: 'El cliente lo pidió' }"] : []
  const llamada = `await api.${api}.${metodo}(${[...ejemplos, ...cuerpo].join(', ')})`
  arbol.crear(
    `openapi/comercios/muestras/${id}.ts`,
    `import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

${conResultado ? `const { registrado_en } = ${llamada}\nconsole.log(registrado_en) // 2026-11-20T15:04:05.000Z` : llamada}
`,
  )
  const caso = [...parametros.map(() => "'A'"), ...(conCuerpo ? ['undefined'] : []), 'o'].join(', ')
  arbol.cambiar(
    'test/sdk/reintentos.test.ts',
    new RegExp(`^const ${repetible ? 'REPETIBLES' : 'UNA_VEZ'}: .*\\n`, 'm'),
    (inicio) => `${inicio}  '${api}.${metodo}': (api, o) => api.${api}.${metodo}(${caso}),\n`,
  )
  const filas = new RegExp(`(?:^\\| \`api\\.${api}\\..*\\n)+`, 'm')
  const nombres = [...parametros.map(({ nombre }) => nombre), ...(conCuerpo ? ['datos'] : [])].join(', ')
  arbol.cambiar('sdk/README.md', filas, (suyas) => `${suyas}| \`api.${api}.${metodo}(${nombres})\` | qué hace |\n`)
}
