import type { JobInsert } from 'pg-boss'
import type { entrante } from '../contrato/generado/prisma/client.ts'
import { askAll } from '../data/spread.ts'
import { type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { traducirError } from '../errores.ts'
import { darPaso, deGuia, sinCarrera } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { admiteUbicacion, pasoDeLugar } from '../ubicacion/ubicacion.ts'
import type { DepsDeEnvio } from './enviar.ts'
import { anotar, type FilaMensaje, fallar, marcarEnviados } from './mensaje.ts'
import { type Entrante, leerEntrantes } from './whatsapp.ts'

type DepsDeEntrantes = DepsDeEnvio & Pick<Deps, 'nuevoId'>

const PENDIENTES = sentencia<{ cuantas: number }, Pick<entrante, 'id'>>(
  'entrantes.pendientes',
  'select id from entrante where hecho_en is null order by recibido_en limit :cuantas',
)

/** What providers told and nobody has worked on yet, as jobs. */
export const entrantesPendientes = ({ db }: { db: Db }, cuantas: number): Promise<JobInsert[]> =>
  db.consultar(PENDIENTES, { cuantas })

const LEER = sentencia<{ ids: readonly string[] }, Pick<entrante, 'id' | 'cuerpo'>>(
  'entrantes.leer',
  'select id, cuerpo from entrante where id = any(:ids::uuid[]) and hecho_en is null order by recibido_en',
)

/** Works on what providers told, in steps that do nothing when they are repeated. */
export async function procesarEntrantes(deps: DepsDeEntrantes, trabajos: readonly { id: string }[]): Promise<void> {
  const filas = await deps.db.consultar(LEER, { ids: trabajos.map(({ id }) => id) })
  const fallas: unknown[] = []
  for (const fila of filas) {
    // One that fails must not keep the others waiting; it comes again.
    await procesarFila(deps, fila).catch((err) => {
      fallas.push(err)
      deps.log[traducirError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err, entrante: fila.id }, 'inbound')
    })
  }
  deps.avisarTrabajo()
  if (fallas.length > 0) throw new AggregateError(fallas, 'some of what came in could not be worked on')
}

async function procesarFila(deps: DepsDeEntrantes, { id, cuerpo }: Pick<entrante, 'id' | 'cuerpo'>): Promise<void> {
  const { mensajeria } = deps.ajustes
  // What is meant for another number is somebody else's.
  const numero = mensajeria.tipo === 'whatsapp' ? mensajeria.phoneNumberId : ''
  for (const entrante of leerEntrantes(JSON.parse(cuerpo), numero)) await procesar(deps, entrante)
  await deps.db.prisma.entrante.update({ where: { id }, data: { hecho_en: deps.reloj() } })
}

async function procesar(deps: DepsDeEntrantes, entrante: Entrante): Promise<void> {
  if (entrante.tipo === 'estado') return anotarEstado(deps, entrante)
  await sinCarrera(async (): Promise<true | undefined> => {
    const abiertas = await buscarAbiertas(deps, entrante)
    const [unica] = abiertas
    if (!unica) return true
    if (entrante.tipo === 'ubicacion' && abiertas.length === 1) return confirmar(deps, unica, entrante)
    // Which of several is meant isn't guessed, and a text isn't a place: the newest is asked for once.
    await pedirUnaVez(deps, unica)
    return true
  })
}

/** Others may use the same number, with ids of their own. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function anotarEstado(
  deps: DepsDeEntrantes,
  { nuestroId, proveedorId, estado, en, codigo, motivo }: Extract<Entrante, { tipo: 'estado' }>,
) {
  const nuestro = nuestroId && UUID.test(nuestroId) ? [{ id: nuestroId }] : []
  const [mensaje] = await askAll(deps.db, async ({ prisma }) => {
    const hallado = await prisma.mensaje.findFirst({ where: { OR: [...nuestro, { proveedor_id: proveedorId }] } })
    return hallado ? [hallado] : []
  })
  if (!mensaje) return
  if (estado === 'fallido') return fallar(deps, mensaje, codigo, motivo ?? 'El proveedor no pudo entregarlo.')
  // It did leave, then, whatever became of our question.
  if (['enviando', 'dudoso'].includes(mensaje.estado))
    await marcarEnviados(deps, 'whatsapp', ['enviando', 'dudoso'], [{ ...mensaje, proveedor_id: proveedorId }])
  await anotar(deps, mensaje, estado, en, proveedorId)
}

/** The message of ours that an answer names. */
const NOMBRADO = sentencia<
  { telefono: string; proveedor_id: string },
  Pick<FilaMensaje, 'comercio_id' | 'modo' | 'guia_id'>
>(
  'mensajes.nombrado',
  `select comercio_id, modo, guia_id from mensaje where telefono = :telefono and proveedor_id = :proveedor_id limit 1`,
  { alcance: 'parte' },
)

/** Guides with open requests at a telephone, and when the newest of each was made. */
const ABIERTAS = sentencia<{ telefono: string }, FilaGuia & { pedida_en: Date }>(
  'mensajes.abiertas',
  `select g.*, m.creado_en as pedida_en from (
     select distinct on (comercio_id, modo, guia_id) comercio_id, modo, guia_id, creado_en
     from mensaje where telefono = :telefono and abierta and canal = 'whatsapp' and tipo <> 'acuse'
     order by comercio_id, modo, guia_id, creado_en desc) m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   where g.ubicacion_estado <> 'confirmada'`,
  { alcance: 'parte' },
)

/**
 * Open requests that an answer may be meant for, the newest first. One that names a message of ours is meant for that
 * message's guide and for no other, whether it still asks or not.
 */
async function buscarAbiertas(
  { db }: DepsDeEntrantes,
  { telefono, enRespuestaA }: Exclude<Entrante, { tipo: 'estado' }>,
) {
  const nombrado =
    enRespuestaA === null
      ? undefined
      : (await askAll(db, ({ consultar }) => consultar(NOMBRADO, { telefono, proveedor_id: enRespuestaA })))[0]
  const filas = await askAll(db, ({ consultar }) => consultar(ABIERTAS, { telefono }))
  return filas
    .filter((fila) => admiteUbicacion(fila) && (!nombrado || esSuGuia(fila, nombrado)))
    .sort((una, otra) => otra.pedida_en.getTime() - una.pedida_en.getTime() || (una.id < otra.id ? 1 : -1))
}

const esSuGuia = (
  guia: FilaGuia,
  { comercio_id, modo, guia_id }: Pick<FilaMensaje, 'comercio_id' | 'modo' | 'guia_id'>,
) => guia.comercio_id === comercio_id && guia.modo === modo && guia.id === guia_id

const MENSAJE_NUEVO = sentencia<
  Pick<FilaMensaje, 'comercio_id' | 'modo' | 'guia_id' | 'id' | 'guia' | 'tipo' | 'telefono'> & {
    ahora: Date
    cuantos: number
  }
>(
  'mensajes.responder',
  `insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
   select :comercio_id, :modo, :guia_id, coalesce(max(numero), 0) + 1, :id::uuid, :guia::text, 'whatsapp', :tipo::text,
     :telefono::text, 'pendiente', :ahora::timestamptz, :ahora
   from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
   having count(*) filter (where tipo = :tipo) < :cuantos::int
   on conflict (comercio_id, modo, guia_id, numero) do nothing`,
)

/** At most one message of a kind per request that was made. */
async function responder(
  { db, reloj, nuevoId }: DepsDeEntrantes,
  guia: FilaGuia,
  tipo: FilaMensaje['tipo'],
  cuantos: number,
) {
  const { guia: codigo, telefono } = guia
  await db.consultar(MENSAJE_NUEVO, {
    ...deGuia(guia),
    id: nuevoId().id,
    guia: codigo,
    tipo,
    telefono,
    ahora: reloj(),
    cuantos,
  })
}

const pedirUnaVez = (deps: DepsDeEntrantes, guia: FilaGuia) =>
  responder(deps, guia, 'peticion_interactiva', guia.ubicacion_extra?.solicitud?.numero ?? 1)

/** Confirms a guide's place; undefined when somebody else moved the guide meanwhile. */
async function confirmar(
  deps: DepsDeEntrantes,
  guia: FilaGuia,
  { lat, lng, nombre, direccion }: Extract<Entrante, { tipo: 'ubicacion' }>,
): Promise<true | undefined> {
  // Not cut in the middle of a character: JSON in the database takes no half of one.
  const dicha = [nombre, direccion].filter(Boolean).join(', ').slice(0, 200)
  const referencia = dicha.replace(/[\ud800-\udbff]$/, '') || null
  const propuesta = { enlace: null, lat, lng, precision_m: null, referencia, origen: 'destinatario' as const }
  const paso = await darPaso(deps, guia, pasoDeLugar(guia, propuesta, deps.reloj()))
  if (!paso) return undefined
  await responder(deps, guia, 'acuse', 1)
  return true
}
