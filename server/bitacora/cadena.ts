import type { eslabon } from '../contrato/generado/prisma/client.ts'
import { type Db, type Sentencia, sentencia } from '../db.ts'
import { enCadaMotor } from '../motor.ts'
import { hastaAqui } from '../orden.ts'

/** The records that are chained. */
export type Registro = 'bitacora' | 'evento'

/**
 * One chain. On PostgreSQL there is one of each record; on Citus the events of each merchant and mode have one of their own,
 * because their order is theirs alone (server/orden.ts).
 */
export interface Cadena {
  de: Registro
  /** Its name in `eslabon`. */
  registro: string
  comercio_id: string | null
  modo: string | null
}

const UNA_DE_CADA: readonly Cadena[] = [
  { de: 'bitacora', registro: 'bitacora', comercio_id: null, modo: null },
  { de: 'evento', registro: 'evento', comercio_id: null, modo: null },
]

/** Whose events there are, and how far they are chained. */
const DE_COMERCIOS = sentencia<object, { comercio_id: string; modo: string; nuevos: boolean }>(
  'bitacora.cadenas',
  `with f as materialized (select comercio_id, modo, numero from flujo where numero > 0)
   select comercio_id, modo, coalesce(numero::text::xid8 > (select e.xid from eslabon e
     where e.registro = 'evento ' || f.comercio_id || ' ' || f.modo order by e.numero desc limit 1), true) as nuevos
   from f order by comercio_id, modo`,
)

type Base = Pick<Db, 'consultar' | 'motor'>

/** @param todas also those to which nothing was added */
export async function leerCadenas({ consultar, motor }: Base, todas: boolean): Promise<readonly Cadena[]> {
  if (motor === 'postgres') return UNA_DE_CADA
  const suyas = (await consultar(DE_COMERCIOS)).filter(({ nuevos }) => todas || nuevos)
  return [
    UNA_DE_CADA[0]!,
    ...suyas.map(({ comercio_id, modo }) => ({
      ...{ de: 'evento' as const, registro: `evento ${comercio_id} ${modo}` },
      ...{ comercio_id, modo },
    })),
  ]
}

/** Lines of one link. */
const LOTE = 1_000
/** Bytes of a line's key in a link, and of its digest. */
export const DE_CLAVE = 20
export const DE_HUELLA = 8

/**
 * Of a record: what holds of all its lines, what they are ordered by after their transactions, when they were written, and
 * which columns their digests cover. Of an event these are the ones that never change. What people said, where they were and
 * how they are reached is left out, because it is erased in its time; a digest of it with a salt to be thrown away would cost
 * the creation of guides a column for nothing, since what was delivered is signed by its proof.
 */
const LINEAS = {
  bitacora: {
    todas: 'true',
    orden: 'id',
    clave: 'uuid_send(id) || int4send(0)',
    escrita: 'creado_en',
    columnas: `xid::text, id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos, antes,
      despues, id_solicitud, red, creado_en`,
  },
  evento: {
    // Said for the index alone (`evento_cadena_idx`).
    todas: 'secuencia > 0',
    orden: 'guia_id, secuencia',
    clave: 'uuid_send(guia_id) || int4send(secuencia)',
    escrita: 'registrado_en',
    columnas: `xid::text, comercio_id, modo, guia_id, secuencia, guia, tipo, estado, estado_anterior, motivo, autor,
      custodio, ocurrido_en, registrado_en`,
  },
} as const

/** Whether a record has a chain for each merchant. */
const deUna = (registro: Registro, citus: boolean) => citus && registro === 'evento'
/** SQL of a chain's name. */
const nombre = (registro: Registro, citus: boolean) => (deUna(registro, citus) ? ':registro::text' : `'${registro}'`)

/** SQL of keys and digests of a record's lines from a position on, in the feed's order (server/eventos/flujo.ts). */
const lineas = (registro: Registro, citus: boolean, hasta: string, cuantas: number) => {
  const { todas, orden, clave, columnas } = LINEAS[registro]
  const cuales = deUna(registro, citus) ? 'comercio_id = :comercio_id and modo = :modo' : todas
  return `select xid, ${clave} as clave, sha256(convert_to(jsonb_build_array(${columnas})::text, 'UTF8')) as huella
    from ${registro} where ${cuales} and xid >= d.xid and (xid, ${orden}) > ${lugar('d', registro)} and ${hasta}
    order by xid, ${orden} limit ${cuantas}`
}
/** SQL of a position as that record's order has it. */
const lugar = (p: string, registro: Registro) =>
  registro === 'evento' ? `(${p}.xid, ${p}.id, ${p}.secuencia)` : `(${p}.xid, ${p}.id)`

/** SQL of the position where a link ends, and of what the next one goes on from. */
const POSICION = `xid, encode(substring(claves from length(claves) - 19 for 16), 'hex')::uuid as id,
  ('x' || encode(substring(claves from length(claves) - 3), 'hex'))::bit(32)::int as secuencia`
const COMIENZO = `'0'::xid8, '00000000-0000-0000-0000-000000000000'::uuid, 0`

/** The next link, of what is committed below the oldest transaction under way; whoever else makes the same one, makes it. */
const encadenar = (registro: Registro) =>
  enCadaMotor(
    (citus) => `with d as (
    (select numero, hash, creado_en, ${POSICION} from eslabon where registro = ${nombre(registro, citus)} order by numero desc limit 1)
    union all select 0, ''::bytea, '-infinity', ${COMIENZO} order by numero desc limit 1
  ), l as materialized (
    select x.* from d, lateral (${lineas(registro, citus, hastaAqui(deUna(registro, citus)), LOTE)}) x
  )
  insert into eslabon (registro, numero, xid, lineas, claves, huellas, hash, creado_en)
  select ${nombre(registro, citus)}, d.numero + 1, x.xid, x.lineas, x.claves, x.huellas, sha256(d.hash || x.enteras),
    greatest(d.creado_en, :ahora::timestamptz)
  from d, (
    select (array_agg(xid order by xid desc))[1] as xid, count(*)::int as lineas,
      string_agg(clave, '' order by xid, clave) as claves,
      string_agg(substring(huella for ${DE_HUELLA}), '' order by xid, clave) as huellas,
      string_agg(huella, '' order by xid, clave) as enteras from l) x
  where x.lineas > 0 on conflict (registro, numero) do nothing returning lineas`,
  )

/** Which chain, where a record has several. */
type Cual = Omit<Cadena, 'de'>
type Ahora = { ahora: Date }
type Cuantas = Pick<eslabon, 'lineas'>
const ENCADENAR: Record<Registro, Sentencia<Cual & Ahora, Cuantas>> = {
  bitacora: sentencia<Ahora, Cuantas>('bitacora.encadenar', encadenar('bitacora')),
  evento: sentencia<Cual & Ahora, Cuantas>('bitacora.encadenarEventos', encadenar('evento')),
}

/** Makes the next link of a record; gives whether there may be another one to make. */
export async function hacerEslabon(db: Pick<Db, 'consultar'>, { de, ...cual }: Cadena, ahora: Date): Promise<boolean> {
  const [hecho] = await db.consultar(ENCADENAR[de], { ...cual, ahora })
  return hecho?.lineas === LOTE
}

/** SQL of where the last link ends of those that meet a condition; before the first, where a chain begins. */
const trasElUltimo = (registro: Registro, citus: boolean, condicion: string) => `
    (select numero, ${POSICION} from eslabon where registro = ${nombre(registro, citus)} and ${condicion} order by numero desc limit 1)
    union all select 0, ${COMIENZO} order by numero desc limit 1`

/** The lines that stand now where a link says that it has some. */
const leer = (registro: Registro) =>
  enCadaMotor(
    (citus) => `with d as (${trasElUltimo(registro, citus, 'numero = :numero::int - 1')}
  ), e as (
    select ${POSICION} from eslabon where registro = ${nombre(registro, citus)} and numero = :numero
  )
  select x.clave, x.huella from d, e, lateral (
    ${lineas(registro, citus, `(xid, ${LINEAS[registro].orden}) <= ${lugar('e', registro)}`, 2 * LOTE)}) x`,
  )

type Numero = { numero: number }
/** A line as it stands: its key and its digest. */
export interface LineaLeida {
  clave: Buffer
  huella: Buffer
}
const LEER: Record<Registro, Sentencia<Cual & Numero, LineaLeida>> = {
  bitacora: sentencia<Numero, LineaLeida>('bitacora.leerEslabon', leer('bitacora')),
  evento: sentencia<Cual & Numero, LineaLeida>('bitacora.leerEslabonDeEventos', leer('evento')),
}
export const leerLineas = (db: Pick<Db, 'consultar'>, { de, ...cual }: Cadena, numero: number): Promise<LineaLeida[]> =>
  db.consultar(LEER[de], { ...cual, numero })

/** SQL of whether a line's transaction hasn't been yet; a number of the merchant's own has been. */
const futura = (registro: Registro, citus: boolean, x = '') =>
  deUna(registro, citus) ? 'false' : `${x}xid >= pg_snapshot_xmax(pg_current_snapshot())`

/** Lines behind the last link that no link will ever have, or none has yet though they were written before that. */
const sueltas = (registro: Registro) =>
  enCadaMotor(
    (citus) => `with d as (${trasElUltimo(registro, citus, 'true')}
  )
  select x.clave, coalesce(${futura(registro, citus, 'x.')}, false) as futura from d, lateral (
    ${lineas(registro, citus, `(${futura(registro, citus)} or ${LINEAS[registro].escrita} < :antes_de)`, 100)}) x`,
  )

type AntesDe = { antes_de: Date }
/** A line without a link: its key, and whether its transaction hasn't been yet. */
interface LineaSuelta {
  clave: Buffer
  futura: boolean
}
const SUELTAS: Record<Registro, Sentencia<Cual & AntesDe, LineaSuelta>> = {
  bitacora: sentencia<AntesDe, LineaSuelta>('bitacora.sueltas', sueltas('bitacora')),
  evento: sentencia<Cual & AntesDe, LineaSuelta>('bitacora.sueltasDeEventos', sueltas('evento')),
}
export const leerSueltas = (
  db: Pick<Db, 'consultar'>,
  { de, ...cual }: Cadena,
  antes_de: Date,
): Promise<LineaSuelta[]> => db.consultar(SUELTAS[de], { ...cual, antes_de })
