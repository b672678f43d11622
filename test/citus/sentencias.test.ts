import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { RAIZ } from '../../server/contrato/raiz.ts'
import { SENTENCIAS } from '../../server/db.ts'
import { usarEntorno } from '../entorno.ts'

const entorno = usarEntorno()

/** What asks every machine, and why nobody's request waits for it, or why it can't ask one. */
const A_TODAS: Readonly<Record<string, string>> = {
  'archivos.caducar': 'housekeeping',
  'archivos.porBorrar': 'housekeeping',
  'archivos.olvidar': 'housekeeping',
  'archivos.abandonar': 'housekeeping',
  'archivos.desconocidas': 'housekeeping',
  'webhookEntregas.hallar': 'the search that repairs what nobody told',
  'webhookEntregas.sinArriendo': 'metrics',
  'webhookEntregas.adelantar': 'a clock that stepped back',
  'metricas.webhooks': 'metrics',
  'metricas.pendientes': 'metrics',
  'metricas.atraso': 'metrics',
  'metricas.sinPdf': 'metrics',
  'metricas.atrasoDePdf': 'metrics',
  'bitacora.cadenas': 'the chain',
  'bitacora.nombreDeEvento': 'the chain, when it is verified',
  'duenos.de': 'several codes of a courier, each on its machine',
  'duenos.anotar': 'new codes, each on its machine',
  'duenos.reanotar': 'new links, each on its machine',
  'duenos.olvidar': 'codes that no guide got, each on its machine',
  'eventos.adelantado': 'not asked there',
  'mensajes.pendientes': 'the feeder',
  'mensajes.sinSalida': 'held requests, when messaging was configured',
  'mensajes.vencidos': 'the feeder',
  'mensajes.adelantar': 'a clock that stepped back',
  'mensajes.reclamar': 'what one telephone got of all merchants, in a job',
  'mensajes.deTelefono': 'what one telephone got of all merchants, when a merchant asks for another message',
  'mensajes.abiertas': 'an answer from a telephone, in a job',
  'buzon.ultimos': 'the mailbox of the embedded default',
  'personas.exportar': 'a person, at the console',
  'personas.enCurso': 'a person, at the console',
  'personas.olvidarViejas': 'housekeeping',
  'personas.olvidarTelefono': 'a person, at the console',
  'pruebas.borrarEntregas': 'housekeeping',
  'pruebas.borrarIntentos': 'housekeeping',
  'pruebas.pendientes': 'the feeder',
  'pruebas.adelantar': 'a clock that stepped back',
  'repartidores.suyas': 'what a courier carries, of all merchants: an operators’ search',
  'ubicacion.olvidar': 'housekeeping',
  'enlacesDeUbicacion.olvidar': 'housekeeping',
  'enlaces.pendientes': 'the feeder',
  'enlaces.adelantar': 'a clock that stepped back',
  'recuperacion.pendientes': 'the feeder',
  'limpieza.cerrar': 'housekeeping',
  'limpieza.quienesEliminaron': 'housekeeping',
  'limpieza.quienesTienenViejas': 'housekeeping',
  'limpieza.webhooks': 'housekeeping',
  'limpieza.recuperaciones': 'housekeeping',
  'limpieza.secretos': 'housekeeping',
  'limpieza.cifrados': 'housekeeping',
}

const UNO = '11111111-1111-4111-8111-111111111111'

/** A value of that type, as SQL. */
function valor(tipo: string, nombre: string): string {
  if (nombre === 'comercio_id') return `'${UNO}'::uuid`
  if (tipo.endsWith('[]')) return `array[${valor(tipo.slice(0, -2), '')}]::${tipo}`
  if (tipo === 'uuid') return `'22222222-2222-4222-8222-222222222222'::uuid`
  if (tipo === 'text') return `'test'::text`
  if (tipo === 'boolean') return 'true'
  if (tipo === 'json' || tipo === 'jsonb') return `'[{"comercio_id": "${UNO}", "modo": "test", "n": 1}]'::${tipo}`
  if (tipo === 'bytea') return `'\\x00'::bytea`
  return tipo.startsWith('time') || tipo === 'date' ? `'2026-11-20'::${tipo}` : `'1'::${tipo}`
}

/** What of a statement's plan asks more than one machine; undefined if nothing does. */
async function pegaDe(nombre: string): Promise<string | undefined> {
  const { citus, ...deTodos } = SENTENCIAS.get(nombre)!
  const { text, parametros } = citus ?? deTodos
  const cliente = await entorno.db.pool.connect()
  try {
    await cliente.query(`begin; prepare esta as ${text}`)
    const { rows } = await cliente.query<{ tipos: string[] }>(
      `select parameter_types::text[] as tipos from pg_prepared_statements where name = 'esta'`,
    )
    const conValores = text.replace(/\$(\d+)/g, (_todo, i) =>
      valor(rows[0]!.tipos[Number(i) - 1]!, parametros[Number(i) - 1]!),
    )
    const plan = await cliente.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${conValores}`)
    const lineas = plan.rows.map((fila) => fila['QUERY PLAN'])
    const tareas = Math.max(0, ...lineas.map((linea) => Number(/Task Count: (\d+)/.exec(linea)?.[1] ?? 0)))
    if (tareas > 1) return `asks ${tareas} parts`
    // An insert of what a CTE gives, which Citus doesn't know the place of: the CTE's rows go to all machines.
    const aTodas = lineas.some((linea, i) => linea.includes('pull to coordinator') && leeDeUnCte(lineas.slice(i + 1)))
    return aTodas ? 'sends rows to all machines' : undefined
  } finally {
    await cliente.query('rollback; deallocate all')
    cliente.release()
  }
}

/** Whether the plan that begins there, and ends where another one does, reads what a CTE gave. */
function leeDeUnCte(lineas: readonly string[]): boolean {
  const fin = lineas.findIndex((linea) => /Distributed Subplan|INSERT\/SELECT method/.test(linea))
  return lineas.slice(0, fin === -1 ? undefined : fin).some((linea) => linea.includes('read_intermediate_result'))
}

it('each statement asks one machine, but for those that are named', async () => {
  const archivos = globSync('server/**/*.ts', {
    cwd: fileURLToPath(RAIZ),
    exclude: (ruta) => ruta.includes('generado'),
  })
  for (const archivo of archivos) {
    const ruta = fileURLToPath(new URL(archivo, RAIZ))
    if (!ruta.endsWith('server/db.ts') && /\bsentencia(<|\()/.test(readFileSync(ruta, 'utf8'))) await import(ruta)
  }
  const halladas: Record<string, string> = {}
  for (const nombre of SENTENCIAS.keys()) {
    const pega = await pegaDe(nombre).catch((error: Error) => error.message)
    if (pega && !(nombre in A_TODAS)) halladas[nombre] = pega
  }
  expect(halladas).toEqual({})
  expect(Object.keys(A_TODAS).filter((nombre) => !SENTENCIAS.has(nombre))).toEqual([])
})
