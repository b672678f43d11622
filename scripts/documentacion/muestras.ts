/** The code samples of each operation: its curl line, written from its own examples, and its file in `muestras/`. */
import { existsSync, readFileSync } from 'node:fs'
import { ejemplosDe, type Objeto, type Operacion, operacionesDe, parametrosDe, seguir } from './contrato.ts'

const CARPETA = new URL('../../openapi/comercios/muestras/', import.meta.url)

/** The required query parameters, and otherwise the first that isn't a place in a list: a sample is not a reference. */
export function consultaDe(parametros: readonly Objeto[]): Objeto[] {
  const deConsulta = parametros.filter((uno) => uno.in === 'query' && uno.name !== 'cursor')
  const obligatorios = deConsulta.filter(({ required }) => required === true)
  return [...obligatorios, ...deConsulta.filter((uno) => !obligatorios.includes(uno)).slice(0, 1)]
}

const entreComillas = (texto: string) => `'${texto.replaceAll("'", `'\\''`)}'`

/** What the operation answers when all is well, if it isn't JSON: curl would print it on the terminal. */
function archivoDe(contrato: Objeto, { definicion }: Operacion): string | undefined {
  for (const [status, respuesta] of Object.entries(definicion.responses as Objeto)) {
    const [tipo] = Object.keys((seguir(contrato, respuesta).content ?? {}) as Objeto)
    if (status.startsWith('2') && tipo && tipo !== 'application/json') return tipo.split('/')[1]
  }
  return undefined
}

export function muestraDeCurl(contrato: Objeto, operacion: Operacion): string {
  const { id, metodo, ruta, definicion } = operacion
  const parametros = parametrosDe(contrato, operacion)
  const camino = ruta.replace(/\{(\w+)\}/g, (_, nombre) =>
    String(parametros.find((uno) => uno.in === 'path' && uno.name === nombre)?.example),
  )
  const consulta = consultaDe(parametros).flatMap(({ name, example }) =>
    [example].flat().map((valor) => `--data-urlencode ${entreComillas(`${name}=${valor}`)}`),
  )
  const [ejemplo] = ejemplosDe(contrato, definicion.requestBody)
  if (definicion.requestBody && !ejemplo) throw new Error(`${id}: give its request an example`)
  const verbo = metodo === 'get' ? (consulta.length > 0 ? '-G ' : '') : `-X ${metodo.toUpperCase()} `
  const extension = archivoDe(contrato, operacion)
  return [
    `curl ${verbo}"$GUIAS_URL${camino}"`,
    '-H "Authorization: Bearer $GUIAS_LLAVE"',
    ...consulta,
    ...(ejemplo
      ? ['-H "Content-Type: application/json"', `-d ${entreComillas(JSON.stringify(ejemplo[1].value, null, 2))}`]
      : []),
    ...(extension ? [`-o ${ruta.split('/').at(-1)}.${extension}`] : []),
  ].join(' \\\n  ')
}

/** The contract with `x-codeSamples` in every operation. */
export function conMuestras(contrato: Objeto): Objeto {
  for (const operacion of operacionesDe(contrato)) {
    const archivo = new URL(`${operacion.id}.ts`, CARPETA)
    if (!existsSync(archivo)) {
      throw new Error(`${operacion.id} has no sample: write openapi/comercios/muestras/${operacion.id}.ts`)
    }
    operacion.definicion['x-codeSamples'] = [
      { lang: 'bash', label: 'curl', source: muestraDeCurl(contrato, operacion) },
      // Of what it doesn't know the name, Redoc shows nothing.
      { lang: 'TypeScript', label: 'Node.js', source: readFileSync(archivo, 'utf8').trimEnd() },
    ]
  }
  return contrato
}
