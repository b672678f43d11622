/** Entry point of `npm run bench`: measures the service against its references, in interleaved rounds. See `--help`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { abrirBanco, type Banco } from './arnes/entorno.ts'
import {
  agregarCorrida,
  caidas,
  carga,
  corridaDe,
  dibujarHistoria,
  leerHistoria,
  presentarCarga,
  type RegistroDeCorrida,
} from './arnes/historia.ts'
import { condiciones, type ResultadoDeMedida, tablaDeInforme } from './arnes/informe.ts'
import { medirConJuicio } from './arnes/juicio.ts'
import { terminarTodo } from './arnes/limpieza.ts'
import { miles } from './arnes/numero.ts'
import { ayuda, ErrorDeOpciones, leerOpciones, type OpcionesDeBench } from './arnes/opciones.ts'
import { FALTA_PGBENCH } from './arnes/pgbench.ts'
import { dibujar } from './arnes/svg.ts'
import { activos } from './medidas/activos.ts'
import { bucleDeEventos } from './medidas/bucle.ts'
import { central } from './medidas/central.ts'
import { costos } from './medidas/costos.ts'
import { medidasDeCrear } from './medidas/crear.ts'
import { crecer } from './medidas/crecer.ts'
import { filtros } from './medidas/filtros.ts'
import { inundaciones } from './medidas/inundacion.ts'
import { lectura } from './medidas/leer.ts'
import { limites } from './medidas/limites.ts'
import { medidasDeLote } from './medidas/lote.ts'
import type { Medida } from './medidas/medida.ts'
import { nodos } from './medidas/nodos.ts'
import { medidasDeParticiones } from './medidas/particiones.ts'
import { medidasDePooler } from './medidas/pooler.ts'
import { proceso } from './medidas/proceso.ts'
import { procesos } from './medidas/procesos.ts'
import { sesiones } from './medidas/sesiones.ts'
import { simulacion } from './medidas/simulacion.ts'
import { validacion } from './medidas/validacion.ts'
import { vivo } from './medidas/vivo.ts'
import { medidasDeWebhooks } from './medidas/webhooks.ts'

const MEDIDAS: readonly Medida[] = [
  ...medidasDeCrear,
  ...medidasDeLote,
  ...lectura,
  filtros,
  ...crecer,
  ...medidasDeParticiones,
  ...costos,
  ...sesiones,
  ...central,
  ...vivo,
  ...simulacion,
  ...validacion,
  ...medidasDeWebhooks,
  ...inundaciones,
  ...limites,
  ...activos,
  ...bucleDeEventos,
  ...proceso,
  ...medidasDePooler,
  ...procesos,
  ...nodos,
]

const decir = (texto: string) => process.stderr.write(`${texto}\n`)

async function correr(opciones: OpcionesDeBench) {
  const inicio = new Date()
  const antes = carga()
  const banco = await abrirBanco(opciones)
  if (!banco.pgbench) decir(FALTA_PGBENCH)
  const elegidas = MEDIDAS.filter(({ clave, aparte }) =>
    opciones.solo.length > 0 ? opciones.solo.includes(clave) : !aparte?.(opciones),
  )
  const medidas: { medida: Medida; resultado: ResultadoDeMedida }[] = []
  const caidos: string[] = []
  for (const medida of elegidas) {
    decir(`${medida.clave}: ${medida.descripcion}…`)
    const juicio = opciones.corto ? await medirConJuicio(medida, banco) : { resultado: await medida.medir(banco) }
    const { resultado } = juicio
    medidas.push({ medida, resultado })
    decir(`${tablaDeInforme(resultado.filas)}\n${(resultado.notas ?? []).map((nota) => `  ${nota}`).join('\n')}\n`)
    if (!('caidos' in juicio)) continue
    caidos.push(...juicio.caidos)
    for (const cifra of juicio.sinJuzgar) decir(`Sin juzgar, porque otros usaban la máquina: ${cifra}`)
  }
  const filas = medidas.flatMap(({ resultado }) => resultado.filas)
  const registro = corridaDe(inicio, antes, opciones.rondas, filas)
  const historia = leerHistoria()
  const bajaron = caidas(registro, historia)
  if (!opciones.corto) agregarCorrida(registro)
  const informe = await escribir(banco, registro, medidas, bajaron)
  process.stdout.write(informe)
  if (caidos.length > 0) throw new ErrorDeCifras(`Por debajo de media marca:\n${caidos.join('\n')}`)
}

/**
 * Writes the dated report with its charts and, when the run has all measurements, `bench/RESULTADOS.md`.
 * @returns the report, with paths of charts relative to the repository
 */
async function escribir(
  banco: Banco,
  registro: RegistroDeCorrida,
  medidas: readonly { medida: Medida; resultado: ResultadoDeMedida }[],
  bajaron: readonly string[],
): Promise<string> {
  const { solo, rondas, segundos, guias } = banco.opciones
  const fecha = registro.fecha.slice(0, 16).replace(/:/g, '')
  const carpeta = new URL('resultados/', import.meta.url)
  mkdirSync(carpeta, { recursive: true })
  const graficas = medidas.flatMap(({ resultado }) => resultado.graficas ?? [])
  for (const { nombre, grafica } of graficas)
    writeFileSync(new URL(`${fecha}-${nombre}.svg`, carpeta), dibujar(grafica))
  for (const [i, grafica] of dibujarHistoria(leerHistoria()).entries())
    writeFileSync(new URL(`historia-${i + 1}.svg`, carpeta), dibujar(grafica))
  const notas = medidas.flatMap(({ medida, resultado }) =>
    (resultado.notas ?? []).map((nota) => `- \`${medida.clave}\`: ${nota}`),
  )
  const lugar = await banco.conBase(({ db }) => condiciones(db))
  const informe = (ruta: string) => `# Rendimiento, ${registro.fecha.slice(0, 10)}

Medianas de ${rondas} rondas intercaladas de ${segundos} s por celda (entre paréntesis, la menor y la mayor); la razón es la mediana
de las razones de cada ronda. Tabla grande: ${miles(guias)} guías. Solo las razones se comparan entre máquinas.

${tablaDeInforme(medidas.flatMap(({ resultado }) => resultado.filas))}
${graficas.map(({ nombre, grafica }) => `\n![${grafica.titulo}](${ruta}${fecha}-${nombre}.svg)\n`).join('')}
${notas.length > 0 ? `## Detalles\n\n${notas.join('\n')}\n\n` : ''}## Condiciones

- ${presentarCarga(registro.carga)}
${lugar.map((linea) => `- ${linea}`).join('\n')}

## Desde la corrida anterior en esta máquina

${bajaron.length > 0 ? bajaron.map((linea) => `- Bajó ${linea}`).join('\n') : 'Ninguna cifra bajó más que el ruido de sus rondas.'}
`
  writeFileSync(new URL(`${fecha}.md`, carpeta), informe(''))
  if (solo.length === 0) writeFileSync(new URL('RESULTADOS.md', import.meta.url), informe('resultados/'))
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
  const opciones = leerOpciones(
    process.argv.slice(2),
    MEDIDAS.map(({ clave }) => clave),
  )
  if (opciones) await correr(opciones)
  else process.stdout.write(ayuda(MEDIDAS))
  await terminarTodo()
} catch (error) {
  // An interruption causes errors of its own; the signal handler ends the process.
  if (!interrumpido) {
    decir(
      error instanceof ErrorDeOpciones || error instanceof ErrorDeCifras
        ? error.message
        : error instanceof Error
          ? `${error.stack}`
          : String(error),
    )
    await terminarTodo()
    process.exit(1)
  }
}
