/** Entry point of `npm run bench`: measures the service against its references, in interleaved rounds. See `--help`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { abrirBanco, type Banco } from './arnes/entorno.ts'
import { condiciones, type Medida, type ResultadoDeMedida, tablaDeInforme } from './arnes/informe.ts'
import { medirConJuicio } from './arnes/juicio.ts'
import { terminarTodo } from './arnes/limpieza.ts'
import { formatearNumero, miles } from './arnes/numero.ts'
import { ayuda, ErrorDeOpciones, leerOpciones, type OpcionesDeBench } from './arnes/opciones.ts'
import { FALTA_PGBENCH } from './arnes/pgbench.ts'
import { dibujar } from './arnes/svg.ts'
import { bucleDeEventos } from './medidas/bucle.ts'
import { CASES_OF_COMPARISON, compareWithCommit } from './medidas/contra.ts'
import { medidasDeCrear } from './medidas/crear.ts'
import { crecer } from './medidas/crecer.ts'
import { lectura } from './medidas/leer.ts'
import { limites } from './medidas/limites.ts'
import { medidasDeLote } from './medidas/lote.ts'
import { nodos } from './medidas/nodos.ts'
import { proceso } from './medidas/proceso.ts'
import { validacion } from './medidas/validacion.ts'
import { medidasDeWebhooks } from './medidas/webhooks.ts'

const MEDIDAS: readonly Medida[] = [
  ...medidasDeCrear,
  ...medidasDeLote,
  ...lectura,
  ...crecer,
  ...validacion,
  ...medidasDeWebhooks,
  ...limites,
  ...bucleDeEventos,
  ...proceso,
  ...nodos,
]

/** Load average before a run above which the report marks the run as noisy. */
const TRANQUILA = 0.5

const decir = (texto: string) => process.stderr.write(`${texto}\n`)

function elegir(opciones: OpcionesDeBench): readonly Medida[] {
  const { contra, solo } = opciones
  if (contra !== undefined)
    return [
      {
        clave: 'contra',
        descripcion: `este código contra el de ${contra}`,
        medir: (banco) => compareWithCommit(banco, contra),
      },
    ]
  return MEDIDAS.filter(({ clave, aparte }) => (solo.length > 0 ? solo.includes(clave) : !aparte?.(opciones)))
}

async function correr(opciones: OpcionesDeBench) {
  const inicio = new Date()
  const [antes = 0] = loadavg()
  const banco = await abrirBanco(opciones)
  if (!banco.pgbench) decir(FALTA_PGBENCH)
  const medidas: { medida: Medida; resultado: ResultadoDeMedida }[] = []
  const caidos: string[] = []
  for (const medida of elegir(opciones)) {
    decir(`${medida.clave}: ${medida.descripcion}…`)
    const juicio = opciones.corto ? await medirConJuicio(medida, banco) : { resultado: await medida.medir(banco) }
    const { resultado } = juicio
    medidas.push({ medida, resultado })
    decir(`${tablaDeInforme(resultado.filas)}\n${(resultado.notas ?? []).map((nota) => `  ${nota}`).join('\n')}\n`)
    if (!('caidos' in juicio)) continue
    caidos.push(...juicio.caidos)
    for (const cifra of juicio.sinJuzgar) decir(`Sin juzgar, porque otros usaban la máquina: ${cifra}`)
  }
  process.stdout.write(await escribir(banco, inicio, antes, medidas))
  if (caidos.length > 0) throw new ErrorDeCifras(`Por debajo de media marca:\n${caidos.join('\n')}`)
}

const enLista = (titulo: string, lineas: readonly string[]) =>
  lineas.length > 0 ? `## ${titulo}\n\n${lineas.map((linea) => `- ${linea}`).join('\n')}\n\n` : ''

/**
 * Writes the dated report with its charts and, when the run has all measurements, `bench/RESULTADOS.md`.
 * @returns the report, with paths of charts relative to the repository
 */
async function escribir(
  banco: Banco,
  inicio: Date,
  cargaAntes: number,
  medidas: readonly { medida: Medida; resultado: ResultadoDeMedida }[],
): Promise<string> {
  const { solo, rondas, segundos, guias, contra } = banco.opciones
  const fecha = inicio.toISOString().slice(0, 16).replace(/:/g, '')
  const carpeta = new URL('resultados/', import.meta.url)
  mkdirSync(carpeta, { recursive: true })
  const graficas = medidas.flatMap(({ resultado }) => resultado.graficas ?? [])
  for (const { nombre, grafica } of graficas)
    writeFileSync(new URL(`${fecha}-${nombre}.svg`, carpeta), dibujar(grafica))
  const notas = medidas.flatMap(({ medida, resultado }) =>
    (resultado.notas ?? []).map((nota) => `\`${medida.clave}\`: ${nota}`),
  )
  const perdidas = medidas.flatMap(({ resultado }) => resultado.perdidas ?? [])
  const carga = `Carga de la máquina: ${formatearNumero(cargaAntes)} antes, ${formatearNumero(loadavg()[0] ?? 0)} después.`
  const ruido = cargaAntes > TRANQUILA ? ` **Ruidosa**: antes de empezar debe ser menor que ${TRANQUILA}.` : ''
  const lugar = await banco.conBase(({ db }) => condiciones(db))
  const informe = (ruta: string) => `# Rendimiento, ${inicio.toISOString().slice(0, 10)}

Medianas de ${rondas} rondas intercaladas de ${segundos} s por celda (entre paréntesis, la menor y la mayor); la razón es la mediana
de las razones de cada ronda. Tabla grande: ${miles(guias)} guías. Solo las razones se comparan entre máquinas.

${tablaDeInforme(medidas.flatMap(({ resultado }) => resultado.filas))}
${graficas.map(({ nombre, grafica }) => `\n![${grafica.titulo}](${ruta}${fecha}-${nombre}.svg)\n`).join('')}
${contra === undefined ? '' : enLista('Pérdidas más allá del ruido', perdidas.length > 0 ? perdidas : ['Ninguna.'])}${enLista('Detalles', notas)}${enLista('Condiciones', [carga + ruido, ...lugar])}`
  writeFileSync(new URL(`${fecha}.md`, carpeta), informe(''))
  if (solo.length === 0 && contra === undefined)
    writeFileSync(new URL('RESULTADOS.md', import.meta.url), informe('resultados/'))
  return informe('bench/resultados/')
}

/** Error of a short run (`--corto`) in which a figure stays below half of its mark. */
class ErrorDeCifras extends Error {}

let interrumpido = false
for (const senal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(senal, async () => {
    interrumpido = true
    await terminarTodo()
    process.exit(130)
  })
}

try {
  const medidas = MEDIDAS.map(({ clave }) => clave)
  const opciones = leerOpciones(process.argv.slice(2), { medidas, deContra: CASES_OF_COMPARISON })
  if (opciones) await correr(opciones)
  else process.stdout.write(ayuda(MEDIDAS, CASES_OF_COMPARISON))
  await terminarTodo()
} catch (error) {
  // An interruption causes errors of its own; the signal handler ends the process.
  if (!interrumpido) {
    const esperado = error instanceof ErrorDeOpciones || error instanceof ErrorDeCifras
    decir(esperado ? error.message : error instanceof Error ? `${error.stack}` : String(error))
    await terminarTodo()
    process.exit(1)
  }
}
