import { statement } from '../../data/db.ts'
import { whereIs } from '../../data/owners.ts'
import { tokenHash } from '../../platform/codes/token.ts'
import { Problema } from '../../platform/errors.ts'
import { LEJOS } from '../catalogo/catalogo.ts'
import type { Deps } from '../deps.ts'
import { darPaso, deGuia, sinCarrera } from '../eventos/evento.ts'
import { juzgarDestino } from '../guias/advertencias.ts'
import { ENLACE_VIVO, type FilaGuia } from '../guias/guia.ts'
import { type FallaDeLugar, type LugarPropuesto, type Propuesta, proponer, proponerPalabras } from './propuesta.ts'
import { pedirOtraVez } from './reenvio.ts'
import { type ShownParcel, shownParcel } from './shownParcel.ts'
import { admiteUbicacion, enlacePorSeguir, lugarDe, mismoLugar, pasoDeLugar } from './ubicacion.ts'

export type { LugarPropuesto } from './propuesta.ts'

/** Data of a location request that is shown to any client with the recipient's link. */
export interface DatosDeSolicitud extends ShownParcel {
  /** `cerrada`: the parcel no longer needs the location (delivered, cancelled, on its way). */
  estado: 'abierta' | 'confirmada' | 'vencida' | 'cerrada'
  confirmado: LugarConfirmado | null
  /** True if the recipient may still change the confirmed location, because no courier is on the way to it. */
  corregible: boolean
}

/** Confirmed location; without coordinates if a link or a description names it. */
export interface LugarConfirmado {
  lat: number | null
  lng: number | null
  precision_m: number | null
  enlace: string | null
  referencia: string | null
  /**
   * Progress of a link whose coordinates are unknown. `leyendo`: it is being followed for the first time. `demorado`:
   * it did not answer, and will be followed again. `sin_lugar`: it leads to no location. Null for any other location.
   */
  lectura: 'leyendo' | 'demorado' | 'sin_lugar' | null
}

/** Result of a location that a recipient proposed. */
export type ResultadoDeConfirmacion =
  | { ok: true }
  | { ok: false; motivo: 'lejos'; distancia_km: number }
  | ({ ok: false } & FallaDeLugar)
  /** `con_punto`: words instead of the location would drop a confirmed point or link. */
  | { ok: false; motivo: 'con_punto' }
  /** `agotada`: the recipient changed the location too often. */
  | { ok: false; motivo: 'vencida' | 'cerrada' | 'desconocida' | 'agotada' }

/** Result of a request for another link. `repetida`: a link that was sent before is still valid. */
export type ResultadoDeOtroEnlace =
  | { ok: true; repetida: boolean /** Last two digits of the telephone. */; termina_en: string }
  | { ok: false; motivo: 'agotada' | 'sin_efecto' }

/** Operations of the recipient's page. The link's token alone identifies the guide. */
export interface Solicitudes {
  /** Reads the request without changing anything, because messengers open the page to make previews. */
  leer(token: string): Promise<DatosDeSolicitud | undefined>
  /**
   * Confirms a location. Returns `ok` again for a repeated location, because the first answer may get lost on a bad
   * network.
   */
  confirmar(token: string, lugar: LugarPropuesto): Promise<ResultadoDeConfirmacion>
  /**
   * Changes the description of a confirmed location; its point or link stays. Returns `ok` again for the same
   * description.
   * @param referencia at most 200 characters; empty to remove the words
   */
  describir(token: string, referencia: string): Promise<ResultadoDeConfirmacion>
  /** Sends another link in place of an expired link, to the guide's own telephone. */
  pedirOtro(token: string): Promise<ResultadoDeOtroEnlace>
}

/**
 * Finds a request by the digest of its token, so that the table's contents do not open any page. A link that was sent
 * to another telephone finds nothing, and neither does a link from before a correction of the telephone.
 */
const POR_TOKEN = statement<{ huella: Buffer }, Hallada>(
  'ubicacion.porToken',
  `select g.*, c.nombre as comercio, l.vence_en as vence, k.maps_url as por_seguir, k.intentos as veces
   from enlace_ubicacion l
   join guia g on g.comercio_id = l.comercio_id and g.modo = l.modo and g.id = l.guia_id
   join mensaje m on m.comercio_id = l.comercio_id and m.modo = l.modo and m.guia_id = l.guia_id and m.numero = l.numero
     and ${ENLACE_VIVO} and m.tipo = 'solicitud_ubicacion'
   join comercio c on c.id = g.comercio_id
   left join enlace_corto k on k.comercio_id = g.comercio_id and k.modo = g.modo and k.guia_id = g.id
   where l.huella = :huella`,
  { alcance: 'parte' },
)

/**
 * `por_seguir`: link whose location is still to be looked up. `veces`: failed attempts to do so. Both are null if there
 * is none.
 */
type Hallada = FilaGuia & { comercio: string; vence: Date; por_seguir: string | null; veces: number | null }

/**
 * Maximum confirmations of a guide's location by recipients. A short link counts twice: when the recipient sends it,
 * and when its coordinates are found.
 */
const VECES = 10

const CONFIRMADAS = statement<ReturnType<typeof deGuia>, { veces: number }>(
  'ubicacion.confirmadas',
  `select count(*)::int as veces from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and tipo = 'ubicacion.confirmada' and foto ->> 'ubicacion_origen' = 'destinatario'`,
)

type DepsDeSolicitudes = Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'avisarTrabajo' | 'canalDe'>

/** Creates the operations of the recipient's page. */
export function crearSolicitudes(deps: DepsDeSolicitudes): Solicitudes {
  const { db, reloj } = deps
  const buscar = async (token: string) => {
    const huella = tokenHash(token)
    return (await (await whereIs(db, huella.toString('hex')))?.consultar(POR_TOKEN, { huella }))?.[0]
  }
  return {
    async leer(token) {
      const fila = await buscar(token)
      return fila && presentarSolicitud(fila, reloj())
    },
    async confirmar(token, lugar): Promise<ResultadoDeConfirmacion> {
      const propuesta = proponer(lugar)
      if ('motivo' in propuesta) return { ok: false, ...propuesta }
      return sinCarrera(async (): Promise<ResultadoDeConfirmacion | undefined> => {
        const fila = await buscar(token)
        if (!fila) return { ok: false, motivo: 'desconocida' }
        const hecho = await juzgar(deps, fila, lugar, propuesta)
        if (hecho) return hecho
        const paso = await darPaso(deps, fila, {
          ...pasoDeLugar(fila, propuesta, reloj()),
          enlaceCorto: enlacePorSeguir(propuesta.enlace, deps.nuevoId),
        })
        return paso && { ok: true }
      })
    },
    describir: (token, referencia) =>
      sinCarrera(async (): Promise<ResultadoDeConfirmacion | undefined> => {
        const fila = await buscar(token)
        if (!fila) return { ok: false, motivo: 'desconocida' }
        const estado = estadoDe(fila, reloj())
        if (estado === 'abierta') return { ok: false, motivo: 'sin_lugar', mensaje: 'Falta el lugar.' }
        if (estado !== 'confirmada') return { ok: false, motivo: estado }
        const propuesta = proponerPalabras(lugarDe(fila), referencia)
        if ('motivo' in propuesta) return { ok: false, ...propuesta }
        const hecho = await juzgarCambio(db, fila, propuesta)
        if (hecho) return hecho
        const paso = await darPaso(deps, fila, pasoDeLugar(fila, propuesta, reloj()))
        return paso && { ok: true }
      }),
    async pedirOtro(token): Promise<ResultadoDeOtroEnlace> {
      const resultado = await sinCarrera(async () => {
        const fila = await buscar(token)
        return fila && estadoDe(fila, reloj()) === 'vencida' ? pedirOtro(deps, fila) : SIN_EFECTO
      })
      deps.avisarTrabajo()
      return resultado
    },
  }
}

const SIN_EFECTO: ResultadoDeOtroEnlace = { ok: false, motivo: 'sin_efecto' }

function estadoDe(fila: Hallada, ahora: Date): DatosDeSolicitud['estado'] {
  if (fila.ubicacion_estado === 'confirmada' && fila.ubicacion_origen === 'destinatario') return 'confirmada'
  if (!admiteUbicacion(fila) || fila.ubicacion_estado === 'confirmada') return 'cerrada'
  return fila.vence <= ahora ? 'vencida' : 'abierta'
}

function presentarSolicitud(fila: Hallada, ahora: Date): DatosDeSolicitud {
  const estado = estadoDe(fila, ahora)
  return {
    estado,
    ...shownParcel(fila),
    confirmado: estado === 'confirmada' ? { ...lugarDe(fila), lectura: lecturaDe(fila) } : null,
    corregible: estado === 'confirmada' && admiteUbicacion(fila),
  }
}

function lecturaDe({ ubicacion_lat, ubicacion_extra, por_seguir, veces }: Hallada): LugarConfirmado['lectura'] {
  const enlace = ubicacion_extra?.enlace
  if (enlace === undefined || ubicacion_lat !== null) return null
  if (por_seguir !== enlace) return 'sin_lugar'
  return veces === 0 ? 'leyendo' : 'demorado'
}

/**
 * Returns the answer if a requested change is not recorded: it changes nothing, comes too late, or exceeds the limit.
 * Undefined if the change is to be recorded.
 */
async function juzgarCambio(
  db: Pick<Deps['db'], 'consultar'>,
  fila: Hallada,
  propuesta: Propuesta,
): Promise<ResultadoDeConfirmacion | undefined> {
  if (mismoLugar(fila, propuesta)) return { ok: true }
  if (!admiteUbicacion(fila)) return { ok: false, motivo: 'cerrada' }
  const [cuenta] = await db.consultar(CONFIRMADAS, deGuia(fila))
  return cuenta!.veces >= VECES ? { ok: false, motivo: 'agotada' } : undefined
}

/**
 * Returns the answer if a location is not recorded: it is already confirmed, too late, changed too often, or far away
 * and not confirmed by the person. Undefined if the location is to be recorded.
 */
async function juzgar(
  { db, reloj }: DepsDeSolicitudes,
  fila: Hallada,
  lugar: LugarPropuesto,
  propuesta: Propuesta,
): Promise<ResultadoDeConfirmacion | undefined> {
  const estado = estadoDe(fila, reloj())
  if (estado === 'confirmada') {
    // The browser sent the answer twice over a bad network. The location is already confirmed, as the recipient wanted.
    if (!lugar.cambiar) return { ok: true }
    const hecho = await juzgarCambio(db, fila, propuesta)
    if (hecho) return hecho
    const { lat, enlace } = lugarDe(fila)
    if (lugar.metodo === 'descripcion' && !lugar.sin_punto && (lat !== null || enlace !== null))
      return { ok: false, motivo: 'con_punto' }
  } else if (estado !== 'abierta') return { ok: false, motivo: estado }
  const { distancia_km } = juzgarDestino(fila, { ubicacion_lat: propuesta.lat, ubicacion_lng: propuesta.lng })
  if (distancia_km !== null && distancia_km > LEJOS && !lugar.seguro)
    return { ok: false, motivo: 'lejos', distancia_km: Math.round(distancia_km) }
  return undefined
}

/**
 * Queues another location request, unless a newer link is on its way or still valid. Returns undefined if another
 * request changed the guide.
 */
async function pedirOtro(deps: DepsDeSolicitudes, fila: Hallada): Promise<ResultadoDeOtroEnlace | undefined> {
  const { telefono, ubicacion_extra } = fila
  if (telefono === null) return SIN_EFECTO
  const termina_en = telefono.slice(-2)
  const { estado, vence_en, numero = 0 } = ubicacion_extra?.solicitud ?? {}
  if (estado === 'pendiente' || (vence_en !== undefined && new Date(vence_en) > deps.reloj()))
    return { ok: true, repetida: true, termina_en }
  try {
    return (await pedirOtraVez(deps, fila, { previa: numero })) && { ok: true, repetida: false, termina_en }
  } catch (error) {
    if (error instanceof Problema && error.codigo === 'limite_de_solicitudes') return { ok: false, motivo: 'agotada' }
    throw error
  }
}
