import { centroDe, LEJOS } from '../catalogo/catalogo.ts'
import { sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { darPaso, sinCarrera } from '../eventos/evento.ts'
import { juzgarDestino } from '../guias/advertencias.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { ErrorEnlace, leerEnlace } from '../mapas/enlaces.ts'
import { admiteUbicacion, enlacePorSeguir, huellaDe, type Propuesta, pasoDeLugar } from './ubicacion.ts'

/** What whoever has a recipient's link may know of the request. */
export interface DatosDeSolicitud {
  /** `cerrada`: the parcel no longer needs it (delivered, cancelled, on its way). */
  estado: 'abierta' | 'confirmada' | 'vencida' | 'cerrada'
  /** Who sends the parcel. */
  comercio: string
  /** Only its first word is shown. */
  destinatario: string | null
  departamento: string
  municipio: string
  direccion: string | null
  /** Of the declared municipality. */
  centro: { lat: number; lng: number } | null
  confirmado: { lat: number | null; lng: number | null; referencia: string | null } | null
}

/** The place that a recipient proposes for the delivery. */
export interface LugarPropuesto {
  lat?: number
  lng?: number
  precision_m?: number
  enlace?: string
  referencia?: string
  /** The person was asked whether a place that far away is meant, and said yes. */
  seguro: boolean
  metodo: 'gps' | 'mapa' | 'enlace'
}

/** What became of a place that a recipient proposed. */
export type ResultadoDeConfirmacion =
  | { ok: true }
  | { ok: false; motivo: 'lejos'; distancia_km: number }
  | {
      ok: false
      motivo: 'sin_lugar' | 'enlace_invalido' | 'coordenadas_invalidas' | 'referencia_larga'
      mensaje: string
    }
  | { ok: false; motivo: 'vencida' | 'cerrada' | 'desconocida' }

/** What the recipient's page shows and does; the link's token alone says of which guide. */
export interface Solicitudes {
  /** Without effect: previews of the message open the page, too. */
  leer(token: string): Promise<DatosDeSolicitud | undefined>
  /** The same place again is `ok` again: over a bad network the first answer may never have arrived. */
  confirmar(token: string, lugar: LugarPropuesto): Promise<ResultadoDeConfirmacion>
}

/** By the digest: whoever reads the table can't open a page. */
const POR_TOKEN = sentencia<{ huella: Buffer }, Hallada>(
  'ubicacion.porToken',
  `select g.*, c.nombre as comercio, l.vence_en as vence from enlace_ubicacion l
   join guia g on g.comercio_id = l.comercio_id and g.modo = l.modo and g.id = l.guia_id
   join comercio c on c.id = g.comercio_id where l.huella = :huella`,
)

type Hallada = FilaGuia & { comercio: string; vence: Date }

const REFERENCIA_MAXIMA = 200

/** Creates what the recipient's page shows and does. */
export function crearSolicitudes(deps: Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'avisarTrabajo'>): Solicitudes {
  const { db, reloj } = deps
  const buscar = async (token: string) => (await db.consultar(POR_TOKEN, { huella: huellaDe(token) }))[0]
  const estadoDe = (fila: Hallada): DatosDeSolicitud['estado'] => {
    if (fila.ubicacion_estado === 'confirmada' && fila.ubicacion_origen === 'destinatario') return 'confirmada'
    if (!admiteUbicacion(fila) || fila.ubicacion_estado === 'confirmada') return 'cerrada'
    return fila.vence <= reloj() ? 'vencida' : 'abierta'
  }
  return {
    async leer(token): Promise<DatosDeSolicitud | undefined> {
      const fila = await buscar(token)
      if (!fila) return undefined
      const estado = estadoDe(fila)
      return {
        estado,
        comercio: fila.comercio,
        destinatario: fila.destinatario,
        departamento: fila.departamento,
        municipio: fila.municipio,
        direccion: fila.direccion,
        centro: centroDe(fila.departamento, fila.municipio) ?? null,
        confirmado:
          estado === 'confirmada'
            ? {
                lat: fila.ubicacion_lat,
                lng: fila.ubicacion_lng,
                referencia: fila.ubicacion_extra?.referencia ?? null,
              }
            : null,
      }
    },
    async confirmar(token, lugar): Promise<ResultadoDeConfirmacion> {
      const propuesta = proponer(lugar)
      if ('motivo' in propuesta) return propuesta
      return sinCarrera(async (): Promise<ResultadoDeConfirmacion | undefined> => {
        const fila = await buscar(token)
        if (!fila) return { ok: false, motivo: 'desconocida' }
        const estado = estadoDe(fila)
        // Sent twice over a bad line: it is confirmed already, and that is what they wanted.
        if (estado === 'confirmada') return { ok: true }
        if (estado !== 'abierta') return { ok: false, motivo: estado }
        const { distancia_km } = juzgarDestino(fila, { ubicacion_lat: propuesta.lat, ubicacion_lng: propuesta.lng })
        if (distancia_km !== null && distancia_km > LEJOS && !lugar.seguro)
          return { ok: false, motivo: 'lejos', distancia_km: Math.round(distancia_km) }
        const paso = await darPaso(deps, fila, {
          ...pasoDeLugar(fila, propuesta, reloj()),
          enlaceCorto: enlacePorSeguir(propuesta.enlace, deps.nuevoId),
        })
        return paso && { ok: true }
      })
    },
  }
}

/** What was sent → a place, or what is wrong with it. */
function proponer(lugar: LugarPropuesto): Propuesta | Extract<ResultadoDeConfirmacion, { mensaje: string }> {
  const falla = (
    motivo: 'sin_lugar' | 'enlace_invalido' | 'coordenadas_invalidas' | 'referencia_larga',
    mensaje: string,
  ) => ({ ok: false, motivo, mensaje }) as const
  const referencia = lugar.referencia?.trim().replaceAll(/\s+/g, ' ') || null
  if (referencia && referencia.length > REFERENCIA_MAXIMA)
    return falla('referencia_larga', `La referencia pasa de ${REFERENCIA_MAXIMA} letras: escríbala más corta.`)
  const comun = { precision_m: lugar.precision_m ?? null, referencia, origen: 'destinatario' as const }
  if (lugar.lat !== undefined && lugar.lng !== undefined) {
    const vale = Math.abs(lugar.lat) <= 90 && Math.abs(lugar.lng) <= 180
    return vale
      ? { enlace: null, lat: lugar.lat, lng: lugar.lng, ...comun }
      : falla('coordenadas_invalidas', 'Ese lugar no está en el mapa: márquelo de nuevo.')
  }
  if (!lugar.enlace)
    return falla('sin_lugar', 'Falta el lugar: use su ubicación, márquelo en el mapa o pegue un enlace.')
  try {
    const enlace = lugar.enlace.trim()
    const leido = leerEnlace(enlace)
    const { lat, lng } = leido.tipo === 'coordenadas' ? leido.coordenadas : { lat: null, lng: null }
    return { enlace, lat, lng, ...comun }
  } catch (error) {
    if (!(error instanceof ErrorEnlace)) throw error
    return falla('enlace_invalido', error.message)
  }
}
