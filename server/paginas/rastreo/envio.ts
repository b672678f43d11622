import type { Estado, EstadoDeUbicacion, Modo, Motivo, TipoDeEvento } from '../../contrato/generado/tipos/index.ts'
import { whereIs } from '../../data/owners.ts'
import { sentencia } from '../../db.ts'
import type { Deps } from '../../deps.ts'
import type { Lectura } from '../../replica.ts'
import { zonaDe } from '../../tiempo/zona.ts'

/** All that the tracking page may say of a guide: what isn't read can't get out. */
export interface Envio {
  guia: string
  modo: Modo
  estado: Estado
  /** The merchant's name, who sends the parcel. */
  comercio: string
  municipio: string
  /** The IANA zone in which the parcel's times are told. */
  zona: string
  /** The first letter of the recipient's name. */
  inicial: string | null
  ubicacion: EstadoDeUbicacion
  intentos: number
  /** The events that anybody may know of, the newest first. */
  eventos: { tipo: TipoDeEvento; ocurrido_en: Date; motivo: Motivo | null }[]
  /** Whether there are older events than these. */
  hayMas: boolean
}

/** Reads the parcel that a guide's code names, if there is one. */
export type LeerEnvio = (codigo: string) => Promise<Envio | undefined>

const EVENTOS = 60

/** The parcel of a code, without notes and late scans, which are between courier and merchant, and but a name's initial. */
const LEER = sentencia<Pick<Envio, 'guia'>, FilaDeEnvio>(
  'rastreo.leer',
  `select g.guia, g.modo, g.estado, c.nombre as comercio, g.departamento, g.municipio, left(btrim(g.destinatario), 1) as inicial,
     g.ubicacion_estado as ubicacion, g.intentos, coalesce((
       select json_agg(json_build_object('tipo', e.tipo, 'ocurrido_en', e.ocurrido_en, 'motivo', e.motivo) order by e.secuencia desc) from (
         select tipo, ocurrido_en, motivo, secuencia from evento
         where comercio_id = g.comercio_id and modo = g.modo and guia_id = g.id and tipo not in ('guia.nota', 'guia.escaneo_tardio')
         order by secuencia desc limit ${EVENTOS + 1}) e), '[]') as eventos
   from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   where i.guia = :guia`,
  { alcance: 'parte' },
)

/** A parcel as its statement gives it, with instants as texts in JSON. */
type FilaDeEnvio = Omit<Envio, 'zona' | 'eventos' | 'hayMas'> & {
  departamento: string
  eventos: { tipo: TipoDeEvento; ocurrido_en: string; motivo: Motivo | null }[]
}

/** Creates what reads parcels for the tracking page. */
export const crearLecturaDeEnvios =
  ({ db, dbDeLectura, ajustes }: Pick<Deps, 'db' | 'dbDeLectura' | 'ajustes'>): LeerEnvio =>
  async (codigo) => {
    const suya = await whereIs(db, codigo)
    const buscar = async (lectura: Lectura | undefined) => (await lectura?.consultar(LEER, { guia: codigo }))?.[0]
    // What a replica doesn't know yet may be there all the same.
    const fila = (dbDeLectura === db ? undefined : await buscar(dbDeLectura)) ?? (await buscar(suya))
    if (!fila) return undefined
    const { departamento, ...resto } = fila
    const eventos = fila.eventos.map((evento) => ({ ...evento, ocurrido_en: new Date(evento.ocurrido_en) }))
    return {
      ...resto,
      zona: zonaDe(fila, ajustes.zonaHoraria),
      inicial: fila.inicial && /\p{L}/u.test(fila.inicial) ? fila.inicial.toLocaleUpperCase('es') : null,
      eventos: eventos.slice(0, EVENTOS),
      hayMas: eventos.length > EVENTOS,
    }
  }
