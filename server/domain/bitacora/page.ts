import type { Cursors } from '../../api/lists/cursor.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { collectAudit } from '../../data/audit.ts'
import { type Db, statement } from '../../data/db.ts'
import type { LineaDeBitacora, Modo } from '../../generado/contrato/tipos/index.ts'
import { smallestId } from '../../platform/codes/codes.ts'
import { readInstant } from '../../platform/time/instant.ts'
import type { FilaBitacora } from './bitacora.ts'

type FilaLeida = FilaBitacora & { comercio: string | null }

/** Filters for a page of audit lines; null matches any value. */
interface Condiciones {
  comercio_id: string | null
  modo: Modo | null
  quien: string | null
  accion: string | null
  sobre: string | null
  desde: string | null
  hasta: string | null
}

const COLUMNAS = `b.id, b.linea, b.comercio_id, b.modo, b.accion, b.quien_tipo, b.quien, b.llave, b.sobre_tipo, b.sobre,
  b.campos, b.antes, b.despues, b.id_solicitud, b.red, b.creado_en, c.comercio`

/**
 * Returns the SQL of a page whose first condition is the given one. Each first condition has its own statement, because
 * a single plan for all of them would scan every line.
 */
const consulta = (de: string) => `select ${COLUMNAS} from (
   select * from bitacora where ${de} and (:modo::text is null or modo is null or modo = :modo)
     and (:accion::text is null or accion = :accion) and id >= :desde::uuid and id < :hasta::uuid
     and (:quien::text is null or quien = :quien) and (:sobre::text is null or sobre = :sobre)
     and (:comercio_id::uuid is null or comercio_id = :comercio_id)
   order by id desc limit :cuantas) b left join comercio c on c.id = b.comercio_id order by b.id desc`

type Parametros = Omit<Condiciones, 'desde' | 'hasta'> & { desde: string; hasta: string; cuantas: number }

const DE_TODOS = statement<Parametros, FilaLeida>('bitacora.deTodos', consulta('true'), { alcance: 'todo' })
const DE_COMERCIO = statement<Parametros, FilaLeida>(
  'bitacora.deComercio',
  consulta('comercio_id = :comercio_id::uuid'),
  { alcance: 'todo' },
)
const DE_QUIEN = statement<Parametros, FilaLeida>('bitacora.deQuien', consulta('quien = :quien::text'), {
  alcance: 'todo',
})
const SOBRE = statement<Parametros, FilaLeida>('bitacora.sobre', consulta('sobre = :sobre::text'), { alcance: 'todo' })

/** Selects the statement with the most selective index for the filters. */
const masEstrecha = ({ sobre, quien, comercio_id }: Condiciones) =>
  sobre !== null ? SOBRE : quien !== null ? DE_QUIEN : comercio_id !== null ? DE_COMERCIO : DE_TODOS

/** Query parameters that both audit lists accept. */
export interface ConsultaDeBitacora extends Pagination {
  accion?: string
  sobre?: string
  quien?: string
  creado_desde?: string
  creado_hasta?: string
}

const DESPUES_DE_TODO = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const limiteDe = (instante: string | undefined) => (instante === undefined ? null : smallestId(readInstant(instante)!))

/** Reads a page of the audit record, newest line first. */
export function paginarBitacora<Dato>(
  { db, cursores }: { db: Db; cursores: Cursors },
  quien: { operacion: string; dueno: string },
  { limite, cursor, creado_desde, creado_hasta, ...filtros }: ConsultaDeBitacora,
  de: Pick<Condiciones, 'comercio_id' | 'modo'>,
  presentar: (fila: FilaLeida) => Dato,
) {
  const { accion = null, sobre = null, quien: deQuien = null } = filtros
  const desde = limiteDe(creado_desde)
  const hasta = limiteDe(creado_hasta)
  const condiciones: Condiciones = { ...de, quien: deQuien, accion, sobre, desde, hasta }
  return paginate(
    cursores,
    { ...quien, filtros: { ...condiciones } },
    { ...(limite ? { limite } : {}), ...(cursor ? { cursor } : {}) },
    {
      leer: async (despues, cuantas) => {
        await collectAudit(db)
        const antesDe = [(despues?.[0] as string | undefined) ?? DESPUES_DE_TODO, hasta ?? DESPUES_DE_TODO].sort()[0]!
        const valores = { ...condiciones, desde: desde ?? smallestId(new Date(0)), hasta: antesDe, cuantas }
        return db.consultar(masEstrecha(condiciones), valores)
      },
      posicion: ({ id }) => [id],
      presentar,
    },
  )
}

/** Converts an audit line for operators. Omits its merchant. */
export const presentarLinea = (fila: FilaBitacora): LineaDeBitacora => ({
  linea: fila.linea,
  accion: fila.accion,
  quien: { tipo: fila.quien_tipo, identificador: fila.quien, llave: fila.llave },
  sobre: fila.sobre_tipo && fila.sobre ? { tipo: fila.sobre_tipo, identificador: fila.sobre } : null,
  modo: fila.modo,
  campos: fila.campos,
  antes: fila.antes,
  despues: fila.despues,
  id_solicitud: fila.id_solicitud,
  red: fila.red,
  creado_en: fila.creado_en.toISOString(),
})
