import type { JobInsert } from 'pg-boss'
import { type Db, statement } from '../../data/db.ts'
import { askAll } from '../../data/spread.ts'
import type { entrante } from '../../generado/contrato/prisma/client.ts'
import { translateError } from '../../platform/errors.ts'
import { linkWithin, MapLinkError } from '../../platform/maps/links.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'
import type { Deps } from '../deps.ts'
import { darPaso, deGuia, sinCarrera } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { admiteUbicacion, enlacePorSeguir, pasoDeLugar } from '../ubicacion/ubicacion.ts'
import type { DepsDeEnvio } from './enviar.ts'
import { marcarEnviados } from './markSent.ts'
import type { InboundResult } from './metrics.ts'
import type { FilaMensaje } from './row.ts'
import { anotar, fallar } from './settle.ts'
import { type Entrante, leerEntrantes } from './whatsapp.ts'

type DepsDeEntrantes = DepsDeEnvio & Pick<Deps, 'nuevoId'>

const PENDIENTES = statement<{ cuantas: number }, Pick<entrante, 'id'>>(
  'entrantes.pendientes',
  'select id from entrante where hecho_en is null order by recibido_en limit :cuantas',
)

/** Returns the stored webhooks that no job has processed yet, as jobs. */
export const entrantesPendientes = ({ db }: { db: Db }, cuantas: number): Promise<JobInsert[]> =>
  db.consultar(PENDIENTES, { cuantas })

const LEER = statement<{ ids: readonly string[] }, Pick<entrante, 'id' | 'cuerpo'>>(
  'entrantes.leer',
  'select id, cuerpo from entrante where id = any(:ids::uuid[]) and hecho_en is null order by recibido_en',
)

/** Processes stored webhooks, in idempotent steps. */
export async function procesarEntrantes(deps: DepsDeEntrantes, trabajos: readonly { id: string }[]): Promise<void> {
  const filas = await deps.db.consultar(LEER, { ids: trabajos.map(({ id }) => id) })
  const fallas: unknown[] = []
  for (const fila of filas) {
    // A row that fails must not block the others. The row is processed again later.
    await procesarFila(deps, fila).catch((err) => {
      fallas.push(err)
      deps.log[translateError(err).codigo === 'no_disponible' ? 'warn' : 'error'](
        { err, entrante: fila.id },
        'inbound webhook failed',
      )
    })
  }
  deps.avisarTrabajo()
  if (fallas.length > 0) throw new AggregateError(fallas, 'some inbound webhooks could not be processed')
}

async function procesarFila(deps: DepsDeEntrantes, { id, cuerpo }: Pick<entrante, 'id' | 'cuerpo'>): Promise<void> {
  const { mensajeria } = deps.ajustes
  // Only items for the configured number are read. Items for another number belong to another service.
  const numero = mensajeria.tipo === 'whatsapp' ? mensajeria.phoneNumberId : ''
  const contar = (resultado: InboundResult, tipo?: Entrante['tipo']) => {
    deps.metricas.entrante(resultado)
    // The texts and telephones of recipients must not be in a log. The row of `entrante` has them.
    if (resultado !== 'aplicado') deps.log.info({ entrante: id, tipo, resultado }, 'inbound message not placed')
  }
  const entrantes = leerEntrantes(JSON.parse(cuerpo), numero, () => contar('ilegible'))
  for (const entrante of entrantes) contar(await procesar(deps, entrante), entrante.tipo)
  await deps.db.prisma.entrante.update({ where: { id }, data: { hecho_en: deps.reloj() } })
}

async function procesar(deps: DepsDeEntrantes, entrante: Entrante): Promise<InboundResult> {
  if (entrante.tipo === 'estado') return anotarEstado(deps, entrante)
  return sinCarrera(async (): Promise<InboundResult | undefined> => {
    const abiertas = await buscarAbiertas(deps, entrante)
    const [unica] = abiertas
    if (!unica) return 'sin_guia'
    const lugar = lugarDicho(entrante)
    if (lugar && abiertas.length === 1) return confirmar(deps, unica, lugar)
    // A text is no location, and the service does not guess which of several guides is meant. Instead the recipient is
    // asked once for the newest guide's location.
    await pedirUnaVez(deps, unica)
    return 'aplicado'
  })
}

/** Location in a message. A short link has no coordinates until it is followed. */
interface LugarDicho {
  enlace: string | null
  lat: number | null
  lng: number | null
  referencia: string | null
}

/** Returns the location that a message tells, as a pin or as a map link in its text; undefined if it tells none. */
function lugarDicho(entrante: Exclude<Entrante, { tipo: 'estado' }>): LugarDicho | undefined {
  if (entrante.tipo === 'ubicacion') {
    const { lat, lng, nombre, direccion } = entrante
    // The cut must not leave half a surrogate pair, which jsonb rejects.
    const dicha = [nombre, direccion].filter(Boolean).join(', ').slice(0, 200)
    return { enlace: null, lat, lng, referencia: dicha.replace(/[\ud800-\udbff]$/, '') || null }
  }
  try {
    const enlace = linkWithin(entrante.texto)
    const leido = readLinkedPlace(enlace)
    const { lat, lng } = leido.tipo === 'coordenadas' ? leido.coordenadas : { lat: null, lng: null }
    return leido.tipo === 'sin_coordenadas' ? undefined : { enlace, lat, lng, referencia: null }
  } catch (error) {
    if (error instanceof MapLinkError) return undefined
    throw error
  }
}

/** Format of our message ids. Other programs may use the same number with ids of their own. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function anotarEstado(
  deps: DepsDeEntrantes,
  { nuestroId, proveedorId, estado, en, codigo, motivo }: Extract<Entrante, { tipo: 'estado' }>,
): Promise<InboundResult> {
  const nuestro = nuestroId && UUID.test(nuestroId) ? [{ id: nuestroId }] : []
  const [mensaje] = await askAll(deps.db, async ({ prisma }) => {
    const hallado = await prisma.mensaje.findFirst({ where: { OR: [...nuestro, { proveedor_id: proveedorId }] } })
    return hallado ? [hallado] : []
  })
  if (!mensaje) return 'sin_mensaje'
  if (estado === 'fallido') {
    // The provider may repeat a status.
    if (mensaje.estado !== 'fallido') deps.metricas.mensaje('fallido')
    await fallar(deps, mensaje, codigo, motivo ?? 'El proveedor no pudo entregarlo.')
    return 'aplicado'
  }
  // The status proves that the message was sent, even if our request got no answer.
  if (['enviando', 'dudoso'].includes(mensaje.estado))
    await marcarEnviados(deps, 'whatsapp', ['enviando', 'dudoso'], [{ ...mensaje, proveedor_id: proveedorId }])
  await anotar(deps, mensaje, estado, en, proveedorId)
  return 'aplicado'
}

/** Finds our message that an answer names, from any number. */
const NOMBRADO = statement<
  { proveedor_id: string },
  Pick<FilaMensaje, 'comercio_id' | 'modo' | 'guia_id' | 'telefono'>
>(
  'mensajes.nombrado',
  `select comercio_id, modo, guia_id, telefono from mensaje where proveedor_id = :proveedor_id limit 1`,
  { alcance: 'parte' },
)

/** Finds the guides with open requests at a telephone, and the creation instant of each guide's newest request. */
const ABIERTAS = statement<{ telefono: string }, FilaGuia & { pedida_en: Date }>(
  'mensajes.abiertas',
  `select g.*, m.creado_en as pedida_en from (
     select distinct on (comercio_id, modo, guia_id) comercio_id, modo, guia_id, creado_en
     from mensaje where telefono = :telefono and abierta and canal = 'whatsapp' and tipo <> 'acuse'
     order by comercio_id, modo, guia_id, creado_en desc) m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   where g.ubicacion_estado <> 'confirmada' and g.telefono = :telefono`,
  { alcance: 'parte' },
)

/**
 * Returns the guides with open requests to which a recipient's answer may refer, newest request first. An answer to one
 * of our messages refers only to that message's guide, even if the guide has no open request any more.
 */
async function buscarAbiertas(
  { db }: DepsDeEntrantes,
  { telefono, enRespuestaA }: Exclude<Entrante, { tipo: 'estado' }>,
) {
  const nombrado =
    enRespuestaA === null
      ? undefined
      : (await askAll(db, ({ consultar }) => consultar(NOMBRADO, { proveedor_id: enRespuestaA })))[0]
  // WhatsApp may leave out the sender's number, or write it in another way than the guide. Only who got a message can
  // answer it, so the message's number counts.
  const suyo = nombrado?.telefono ?? telefono
  if (!suyo) return []
  const filas = await askAll(db, ({ consultar }) => consultar(ABIERTAS, { telefono: suyo }))
  return filas
    .filter((fila) => admiteUbicacion(fila) && (!nombrado || esSuGuia(fila, nombrado)))
    .sort((una, otra) => otra.pedida_en.getTime() - una.pedida_en.getTime() || (una.id < otra.id ? 1 : -1))
}

const esSuGuia = (
  guia: FilaGuia,
  { comercio_id, modo, guia_id }: Pick<FilaMensaje, 'comercio_id' | 'modo' | 'guia_id'>,
) => guia.comercio_id === comercio_id && guia.modo === modo && guia.id === guia_id

const MENSAJE_NUEVO = statement<
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

/** Queues a message of a type, unless the guide already has `cuantos` of that type. */
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

/** Asks for the location in a chat message, at most once per location request. */
const pedirUnaVez = (deps: DepsDeEntrantes, guia: FilaGuia) =>
  responder(deps, guia, 'peticion_interactiva', guia.ubicacion_extra?.solicitud?.numero ?? 1)

/** Confirms a guide's location. Returns undefined if another request changed the guide. */
async function confirmar(deps: DepsDeEntrantes, guia: FilaGuia, lugar: LugarDicho): Promise<'aplicado' | undefined> {
  const propuesta = { ...lugar, precision_m: null, origen: 'destinatario' as const }
  const paso = await darPaso(deps, guia, {
    ...pasoDeLugar(guia, propuesta, deps.reloj()),
    enlaceCorto: enlacePorSeguir(lugar.enlace, deps.nuevoId),
  })
  if (!paso) return undefined
  // The thanks say that the place is known, which a short link does not tell yet.
  if (lugar.lat !== null) await responder(deps, guia, 'acuse', 1)
  return 'aplicado'
}
