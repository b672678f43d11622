import { type Db, statement } from '../../data/db.ts'
import { whereIs } from '../../data/owners.ts'
import type { Decision, Dia, Motivo } from '../../generado/contrato/tipos/index.ts'
import { tokenHash } from '../../platform/codes/token.ts'
import { Problema } from '../../platform/errors.ts'
import { dayIn, isDay } from '../../platform/time/day.ts'
import { LEJOS } from '../catalogo/catalogo.ts'
import { zonaDe } from '../catalogo/zona.ts'
import { corregirTomada } from '../correcciones/correccion.ts'
import { darPaso, sinCarrera } from '../eventos/evento.ts'
import { juzgarDestino } from '../guias/advertencias.ts'
import { ENLACE_VIVO, type FilaGuia } from '../guias/guia.ts'
import { conGuiaTomada, type Escritor, type GuiaTomada } from '../guias/tomada.ts'
import {
  enlacePorSeguir,
  type FallaDeLugar,
  type LugarPropuesto,
  mismoLugar,
  type Propuesta,
  pasoDeLugar,
  proponer,
  type ShownParcel,
  shownParcel,
} from '../ubicacion/ubicacion.ts'
import { diasDe, PIDIO_OTRO_DIA } from './decision.ts'
import { type DepsDeDecision, devolverTomada, reintentarTomada } from './lockedGuide.ts'
import { conVecino, sinVecino, type Vecino } from './vecino.ts'

/** Kind of request that a recipient can make on the page. */
export type Eleccion = 'otro_dia' | 'otro_lugar' | 'vecino' | 'rechazo'

/** Answer of a recipient. Without a day it means the first possible day. */
export type Respuesta =
  | { eleccion: 'otro_dia'; fecha: Dia | undefined }
  | { eleccion: 'otro_lugar'; fecha: Dia | undefined; lugar: LugarPropuesto }
  | { eleccion: 'vecino'; fecha: Dia | undefined; vecino: Vecino }
  | { eleccion: 'rechazo' }

/** Data of a decision that are shown to any client with the recipient's link. */
export interface DatosDeDecision extends ShownParcel {
  /**
   * `abierta`: the recipient may decide. `decidida`: a decision was taken. `superada`: an event made the decision
   * needless. `vencida`: the deadline passed without a decision. `detenida`: the parcel is lost, and no decision is
   * possible until it is found.
   */
  estado: 'abierta' | 'decidida' | 'superada' | 'vencida' | 'detenida'
  /** Reason why the delivery failed; null if unknown. */
  motivo: Motivo | null
  /** Instant until which the recipient may decide, as a text for people. */
  vence_en: string
  /** True if the parcel automatically returns to the sender at that instant. */
  vuelve: boolean
  /** IANA time zone of the destination. */
  zona: string
  /** Days on which another attempt may be made; null if no attempt is left. */
  dias: { desde: Dia; hasta: Dia } | null
  /** Decision that was taken; null if none was. */
  decidido: (Pick<Decision, 'accion' | 'por' | 'fecha' | 'franja'> & { eleccion: Eleccion | null }) | null
}

/** Result of a recipient's answer. */
export type ResultadoDeDecision =
  | { ok: true }
  | { ok: false; motivo: 'desconocida' | 'cerrada' | 'no_admitida' | 'fecha_invalida' }
  | { ok: false; motivo: 'lejos'; distancia_km: number }
  | ({ ok: false } & FallaDeLugar)

/** Operations of the page where the recipient decides. The link's token alone identifies the guide. */
export interface Decisiones {
  /** Reads the decision without changing anything, because messengers open the page to make previews. */
  leer(token: string): Promise<DatosDeDecision | undefined>
  /** Takes the decision, unless a decision was already taken, became needless or expired. */
  decidir(token: string, respuesta: Respuesta): Promise<ResultadoDeDecision>
}

/** Description of the event for a recipient's decision. It names the choice without personal data. */
const PEDIDO: Readonly<Record<Eleccion, string>> = {
  otro_dia: PIDIO_OTRO_DIA,
  otro_lugar: 'El destinatario pidió otro lugar',
  vecino: 'El destinatario pidió que se deje con un vecino',
  rechazo: 'El destinatario no lo quiere',
}
const eleccionDe = (descripcion: string | null): Eleccion | null =>
  (Object.keys(PEDIDO) as Eleccion[]).find((una) => PEDIDO[una] === descripcion) ?? null

/**
 * Finds a decision by the digest of its token. A link that was sent to another telephone finds nothing, and neither
 * does a link from before a correction of the telephone. The failed attempt is the event before the event that opened the decision.
 */
const POR_TOKEN = statement<{ huella: Buffer }, Hallada>(
  'decisiones.porToken',
  `select g.*, c.nombre as comercio, m.vence_en as vence,
     (select e.motivo from evento e where e.comercio_id = m.comercio_id and e.modo = m.modo and e.guia_id = m.guia_id
       and e.secuencia = m.decision_secuencia - 1) as motivo,
     (select e.descripcion from evento e where e.comercio_id = m.comercio_id and e.modo = m.modo
       and e.guia_id = m.guia_id and e.secuencia > m.decision_secuencia and e.tipo = 'guia.decision_tomada'
       order by e.secuencia desc limit 1) as pedido,
     exists (select from evento e where e.comercio_id = m.comercio_id and e.modo = m.modo and e.guia_id = m.guia_id
       and e.secuencia > m.decision_secuencia and e.tipo = 'guia.decision_pendiente') as hay_otra
   from enlace_ubicacion l
   join guia g on g.comercio_id = l.comercio_id and g.modo = l.modo and g.id = l.guia_id
   join mensaje m on m.comercio_id = l.comercio_id and m.modo = l.modo and m.guia_id = l.guia_id and m.numero = l.numero
     and ${ENLACE_VIVO} and m.tipo = 'solicitud_decision'
   join comercio c on c.id = g.comercio_id where l.huella = :huella`,
  { alcance: 'parte' },
)

type Hallada = FilaGuia & {
  comercio: string
  vence: Date | null
  motivo: string | null
  /** Description of the newest event that recorded a decision. A rectification may have undone an earlier one. */
  pedido: string | null
  /** True if a later attempt failed too, so that the guide now has another decision. */
  hay_otra: boolean | null
}

async function buscar(db: Db, token: string): Promise<Hallada | undefined> {
  const huella = tokenHash(token)
  return (await (await whereIs(db, huella.toString('hex')))?.consultar(POR_TOKEN, { huella }))?.[0]
}

/** Creates the operations of the page where the recipient decides. */
export const crearDecisiones = (deps: DepsDeDecision): Decisiones => ({
  async leer(token) {
    const fila = await buscar(deps.db, token)
    return fila && presentarDecision(deps, fila)
  },
  async decidir(token, respuesta) {
    const propuesta = respuesta.eleccion === 'otro_lugar' ? proponer(respuesta.lugar) : undefined
    if (propuesta && 'motivo' in propuesta) return { ok: false, ...propuesta }
    return sinCarrera(async () => {
      const fila = await buscar(deps.db, token)
      if (!fila) return { ok: false, motivo: 'desconocida' }
      return juzgar(deps, fila, respuesta, propuesta) ?? (await tomarDecision(deps, fila, respuesta, propuesta))
    })
  },
})

function estadoDe({ hay_otra, decision, estado, vence }: Hallada, ahora: Date): DatosDeDecision['estado'] {
  if (hay_otra || decision === null || decision.estado === 'superada') return 'superada'
  if (decision.estado !== 'pendiente') return 'decidida'
  if (vence === null || vence <= ahora) return 'vencida'
  return estado === 'extraviado' ? 'detenida' : 'abierta'
}

function presentarDecision({ reloj, ajustes }: DepsDeDecision, fila: Hallada): DatosDeDecision {
  const ahora = reloj()
  const estado = estadoDe(fila, ahora)
  const zona = zonaDe(fila, ajustes.zonaHoraria)
  const { accion = null, por = null, fecha = null, franja = null } = fila.decision ?? {}
  return {
    estado,
    ...shownParcel(fila),
    motivo: fila.motivo as Motivo | null,
    vence_en: (fila.vence ?? ahora).toISOString(),
    vuelve: fila.decision_vence !== null,
    zona,
    dias: fila.decision?.opciones.includes('reintentar') ? diasDe(fila.decision.fecha_desde, dayIn(ahora, zona)) : null,
    decidido:
      estado === 'decidida'
        ? { accion, por, fecha, franja, eleccion: por === 'destinatario' ? eleccionDe(fila.pedido) : null }
        : null,
  }
}

/**
 * Returns the answer if nothing is to be changed, because the decision is closed or the input is faulty; undefined if
 * the decision is to be taken.
 */
function juzgar(
  { reloj }: DepsDeDecision,
  fila: Hallada,
  respuesta: Respuesta,
  propuesta: Propuesta | undefined,
): ResultadoDeDecision | undefined {
  if (estadoDe(fila, reloj()) !== 'abierta') return { ok: false, motivo: 'cerrada' }
  if ('fecha' in respuesta && respuesta.fecha !== undefined && !isDay(respuesta.fecha))
    return { ok: false, motivo: 'fecha_invalida' }
  if (respuesta.eleccion !== 'otro_lugar' || !propuesta) return undefined
  const { distancia_km } = juzgarDestino(fila, { ubicacion_lat: propuesta.lat, ubicacion_lng: propuesta.lng })
  return distancia_km !== null && distancia_km > LEJOS && !respuesta.lugar.seguro
    ? { ok: false, motivo: 'lejos', distancia_km: Math.round(distancia_km) }
    : undefined
}

/** Answers to the recipient for problem codes that mean that the decision cannot be taken. */
const MOTIVO_DE: Readonly<Record<string, 'cerrada' | 'no_admitida' | 'fecha_invalida'>> = {
  decision_tomada: 'cerrada',
  decision_no_admitida: 'no_admitida',
  transicion_invalida: 'cerrada',
  no_corregible: 'no_admitida',
  limite_de_correcciones: 'no_admitida',
  validacion: 'fecha_invalida',
}

/**
 * Takes the decision and makes the changes that it needs, in one transaction. Returns undefined if another request
 * changed the guide since it was read.
 */
async function tomarDecision(
  deps: DepsDeDecision,
  { guia, secuencia }: Hallada,
  respuesta: Respuesta,
  propuesta: Propuesta | undefined,
): Promise<ResultadoDeDecision | undefined> {
  const recordarNada = async () => {}
  try {
    await conGuiaTomada(deps, 'todos', guia, secuencia, recordarNada, (escritor, tomada) =>
      responderTomada(deps, escritor, tomada, respuesta, propuesta),
    )
    return { ok: true }
  } catch (error) {
    if (!(error instanceof Problema)) throw error
    if (error.codigo === 'carrera_perdida') return undefined
    const motivo = MOTIVO_DE[error.codigo]
    if (!motivo) throw error
    return { ok: false, motivo }
  }
}

/**
 * Carries out the recipient's choice for a locked guide, in the lock's transaction.
 * @param propuesta place of `otro_lugar`
 * @returns the guide's row afterwards
 * @throws Problema 409 `decision_tomada`, `decision_no_admitida`, `transicion_invalida`, or one of a correction; 422
 */
export function responderTomada(
  deps: Pick<DepsDeDecision, 'ajustes'>,
  escritor: Escritor,
  tomada: GuiaTomada,
  respuesta: Respuesta,
  propuesta: Propuesta | undefined,
): Promise<FilaGuia> {
  const quien = { por: 'destinatario', autor: null, descripcion: PEDIDO[respuesta.eleccion] } as const
  if (respuesta.eleccion === 'rechazo') return devolverTomada(escritor, quien, tomada)
  return reintentarTomada(deps, escritor, quien, tomada, {
    fecha: respuesta.fecha,
    cambiar: async () => {
      const vecino = respuesta.eleccion === 'vecino' ? respuesta.vecino : undefined
      const corregida = await cambiarVecino(escritor, quien, tomada, vecino)
      return propuesta ? cambiarLugar(escritor, corregida, propuesta) : corregida
    },
  })
}

/**
 * Writes the neighbour who takes the parcel into the indications for the courier. Without a neighbour, removes one that
 * was written before.
 */
async function cambiarVecino(
  escritor: Escritor,
  { descripcion }: { descripcion: string },
  tomada: GuiaTomada,
  vecino: Vecino | undefined,
): Promise<FilaGuia> {
  const indicaciones = vecino ? conVecino(tomada.indicaciones, vecino) : sinVecino(tomada.indicaciones)
  if (indicaciones === tomada.indicaciones) return tomada
  const quien = { ambito: 'todos', autor: null, origen: 'destinatario', pais: null, descripcion } as const
  return corregirTomada(escritor, quien, tomada, { indicaciones })
}

/** Confirms the place that the recipient gave. If it is the confirmed place already, writes no event. */
async function cambiarLugar(
  { consultar, avisarTrabajo, reloj, nuevoId }: Escritor,
  guia: FilaGuia,
  propuesta: Propuesta,
): Promise<FilaGuia> {
  if (mismoLugar(guia, propuesta)) return guia
  const paso = await darPaso({ db: { consultar }, avisarTrabajo }, guia, {
    ...pasoDeLugar(guia, propuesta, reloj()),
    enlaceCorto: enlacePorSeguir(propuesta.enlace, nuevoId),
  })
  return paso!.guia
}
