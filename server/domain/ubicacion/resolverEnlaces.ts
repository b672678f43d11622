import { randomUUID } from 'node:crypto'
import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { fromJob, toJob } from '../../data/queue/jobRows.ts'
import { askByMerchant, askThoseThere, inEach } from '../../data/spread.ts'
import type { enlace_corto } from '../../generado/contrato/prisma/client.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { esFinal } from '../estados/estados.ts'
import { darPaso, deGuia } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { lugarDe, pasoDeLugar } from './ubicacion.ts'

type DepsDeEnlaces = Pick<DepsDeTrabajo, 'db' | 'log' | 'reloj' | 'avisarTrabajo' | 'enlacesCortos'>

/** Waits between attempts to follow a link, in milliseconds: one retry per wait, about 41 hours in all. */
const ESPERAS = [60_000, 600_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000]

const PENDIENTES = statement<{ ahora: Date; cuantas: number }, Pick<enlace_corto, 'id' | 'comercio_id'>>(
  'enlaces.pendientes',
  'select id, comercio_id from enlace_corto where proximo_en <= :ahora order by proximo_en limit :cuantas',
  { alcance: 'parte' },
)

/** Returns the short links that are due to be followed, as jobs. */
export const enlacesPendientes = async (
  { db, reloj }: Pick<DepsDeEnlaces, 'db' | 'reloj'>,
  cuantas: number,
): Promise<JobInsert[]> =>
  (await askThoseThere(db, ({ consultar }) => consultar(PENDIENTES, { ahora: reloj(), cuantas }))).map(toJob)

/** Limits the wait of each link to the delay after its last failure. */
const ADELANTAR = statement<{ ahora: Date; esperas: number[] }>(
  'enlaces.adelantar',
  `update enlace_corto set proximo_en = least(proximo_en, :ahora::timestamptz + interval '1 ms'
     * coalesce((:esperas::int[])[intentos], 0)) where proximo_en > :ahora`,
  { alcance: 'parte' },
)

/** Brings forward links that were scheduled before the clock was set back. */
export const adelantarEnlaces = ({ db, reloj }: Pick<DepsDeEnlaces, 'db' | 'reloj'>) =>
  inEach(db, ({ consultar }) => consultar(ADELANTAR, { ahora: reloj(), esperas: ESPERAS }))

const LEER = statement<{ ids: readonly string[] }, PorSeguir>(
  'enlaces.leer',
  `select g.*, k.id as enlace_id, k.maps_url as por_seguir, k.intentos as veces from enlace_corto k
   join guia g on g.comercio_id = k.comercio_id and g.modo = k.modo and g.id = k.guia_id where k.id = any(:ids::uuid[])`,
  { alcance: 'parte' },
)
const APLAZAR = statement<Pick<enlace_corto, 'id' | 'comercio_id' | 'proximo_en'> & { siguiente: string }>(
  'enlaces.aplazar',
  `update enlace_corto set id = :siguiente, intentos = intentos + 1, proximo_en = :proximo_en
   where id = :id and comercio_id = :comercio_id`,
)

type PorSeguir = FilaGuia & { enlace_id: string; por_seguir: string; veces: number }

/**
 * Follows short links. If a link leads to a point, the guide's location gets its coordinates through an ordinary event.
 */
export async function resolverEnlaces(
  deps: DepsDeEnlaces,
  trabajos: readonly { id: string; data: object }[],
): Promise<void> {
  const { db } = deps
  const filas = await askByMerchant(db, trabajos.map(fromJob), ({ consultar }, suyos) =>
    consultar(LEER, { ids: suyos.map(({ id }) => id) }),
  )
  await Promise.all(filas.map((fila) => seguir(deps, fila)))
}

async function seguir(deps: DepsDeEnlaces, fila: PorSeguir): Promise<void> {
  const { db, log, reloj } = deps
  const { enlace_id: id, veces, comercio_id } = fila
  const aplazar = async (proximo_en: Date) =>
    void (await db.consultar(APLAZAR, { id, comercio_id, siguiente: randomUUID(), proximo_en }))
  const resuelto = await deps.enlacesCortos.resolver(fila.por_seguir)
  const espera = ESPERAS[veces]
  if (resuelto.tipo === 'falla' && resuelto.pasajera && espera !== undefined)
    return aplazar(new Date(reloj().getTime() + espera))
  if (resuelto.tipo === 'falla') log.info({ guia: fila.guia, motivo: resuelto.motivo }, 'short link not resolved')
  if (resuelto.tipo === 'coordenadas' && esperaLugar(fila)) {
    const ahora = reloj()
    const propuesta = { ...lugarDe(fila), ...resuelto.coordenadas, origen: fila.ubicacion_origen! }
    const paso = await darPaso(deps, fila, conPorRevisar(fila, pasoDeLugar(fila, propuesta, ahora)))
    // Another request changed the guide, so the link is tried again with the guide's new state.
    if (!paso) return aplazar(ahora)
  }
  await db.de(comercio_id).prisma.enlace_corto.deleteMany({ where: { ...deGuia(fila), id } })
}

/**
 * Reports whether the guide still needs the link's coordinates: it is not in a final state, and no better location was
 * given.
 */
const esperaLugar = ({ estado, ubicacion_estado, ubicacion_lat, ubicacion_extra, maps_url, por_seguir }: PorSeguir) =>
  !esFinal(estado) &&
  ubicacion_estado === 'confirmada' &&
  ubicacion_lat === null &&
  (ubicacion_extra?.enlace ?? maps_url) === por_seguir

/**
 * Keeps the warning that an address was corrected after the place was confirmed. The coordinates of a link say where
 * that place is, and nobody has looked whether it is still the right one.
 */
function conPorRevisar<P extends ReturnType<typeof pasoDeLugar>>({ advertencias }: FilaGuia, paso: P): P {
  const suya = advertencias.filter(({ codigo }) => codigo === 'lugar_por_revisar')
  return { ...paso, ubicacion: { ...paso.ubicacion, advertencias: [...suya, ...paso.ubicacion.advertencias] } }
}
