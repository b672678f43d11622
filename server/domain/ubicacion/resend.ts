import { inTransaction, type Query, statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import { inTurn } from '../../data/turns.ts'
import type { mensaje } from '../../generated/contract/prisma/client.ts'
import type { CanalDeMensaje } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { dueAtCreationSql } from '../records/locationRequest.ts'

/** Maximum resends to a guide's telephone, besides the first request. */
export const RESENDS_PER_GUIA = 3
/**
 * Maximum requests to one telephone within 24 hours from all merchants together, because a telephone belongs to one
 * person.
 */
const PER_TELEFONO_PER_DAY = 5

/** Counts the requests of all merchants to a telephone; a merchant cannot see the requests of others. */
const COUNT_OF_TELEFONO = statement<TelefonoParams, { count: number }>(
  'mensajes.countOfTelefono',
  'part',
  `select count(*)::int as count from mensaje where telefono = :telefono and modo = :modo and creado_en > :desde
     and tipo = 'solicitud_ubicacion' and estado <> 'descartado'`,
)
type TelefonoParams = Pick<GuiaRow, 'modo' | 'telefono'> & { desde: Date }

const COUNT_REQUESTS = statement<
  ReturnType<typeof guiaKeyOf> & Pick<GuiaRow, 'telefono'>,
  Omit<Cuenta, 'per_telefono'>
>(
  'mensajes.countRequests',
  'merchant',
  `select (select count(*) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and tipo = 'solicitud_ubicacion')::int as solicitudes,
     (select count(*) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and tipo = 'solicitud_ubicacion' and telefono = :telefono)::int as per_guia,
     (select max(numero) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id)::int
       as ultimo`,
)

/**
 * Adds a location request. Requires that the guide still has the sequence that was read and, unless `previous` is null,
 * the request that was read. A request does not change the sequence. The guide then shows only the new request; the
 * links of older requests still work.
 */
const REQUEST = statement<
  ReturnType<typeof guiaKeyOf> &
    Pick<GuiaRow, 'secuencia'> & {
      /** Number of requests of the guide, including this one. */
      solicitudes: number
      /** Number of the request that the guide must have, 0 for none; null: any. */
      previous: number | null
      canal: CanalDeMensaje
      now: Date
    } & Pick<mensaje, 'numero' | 'id'>,
  GuiaRow
>(
  'mensajes.request',
  'merchant',
  `with g as (
     update guia set ubicacion_extra = coalesce(ubicacion_extra, '{}') || jsonb_build_object('solicitud',
       jsonb_build_object('numero', :solicitudes::int, 'canal', :canal::text, 'estado', 'pendiente',
         'creado_en', :now::timestamptz))
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and secuencia = :secuencia
       and coalesce((ubicacion_extra #>> '{solicitud,numero}')::int, 0) < :solicitudes
       and coalesce(:previous::int = coalesce((ubicacion_extra #>> '{solicitud,numero}')::int, 0), true) returning *
   ), m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select comercio_id, modo, id, :numero::int, :id::uuid, guia, :canal, 'solicitud_ubicacion', telefono, 'pendiente',
       ${dueAtCreationSql('modo', ':canal', ':now')}, :now from g
   )
   select * from g`,
)

/**
 * Queues another location request to the guide's own telephone. The limits per guide and per telephone apply to
 * merchants and recipients alike.
 * @param runLast runs last in the transaction of the request
 * @param previous number of the request that the guide must still have, 0 for none; null: any
 * @returns the guide, or undefined if another request changed it meanwhile
 * @throws Problema 409 `limite_de_solicitudes`
 */
export async function requestAgain(
  { db, clock, newId, channelOf }: Pick<Deps, 'db' | 'clock' | 'newId' | 'channelOf'>,
  storedGuia: GuiaRow,
  {
    runLast = async () => {},
    previous = null,
  }: { runLast?: (query: Query) => Promise<unknown>; previous?: number | null },
): Promise<GuiaRow | undefined> {
  const now = clock()
  const { modo, telefono, secuencia, comercio_id } = storedGuia
  // Requests for one telephone run one after another, so that each request counts the earlier requests of every guide
  // and merchant.
  return inTurn(db, `${modo} ${telefono}`, async () => {
    const desde = new Date(now.getTime() - DAY_MS)
    const countsByPart = await queryAllParts(db.asRole('guias_operacion'), ({ query }) =>
      query(COUNT_OF_TELEFONO, { modo, telefono, desde }),
    )
    const shardDb = db.forComercio(comercio_id)
    const [cuenta] = await shardDb.query(COUNT_REQUESTS, { ...guiaKeyOf(storedGuia), telefono })
    const per_telefono = countsByPart.reduce((sum, { count }) => sum + count, 0)
    const excessProblem = checkLimits({ ...cuenta!, per_telefono })
    if (excessProblem) throw excessProblem
    return inTransaction(shardDb, async (query) => {
      const [requestedRow] = await query(REQUEST, {
        ...guiaKeyOf(storedGuia),
        secuencia,
        solicitudes: cuenta!.solicitudes + 1,
        previous,
        canal: channelOf(modo),
        now,
        numero: (cuenta!.ultimo ?? 0) + 1,
        id: newId().id,
      })
      if (requestedRow) await runLast(query)
      return requestedRow
    })
  })
}

interface Cuenta {
  /** Number of the guide's requests. */
  solicitudes: number
  /** Number of the guide's requests to its present telephone. */
  per_guia: number
  /** Number of the guide's newest message, of any type; null without messages. */
  ultimo: number | null
  per_telefono: number
}

function checkLimits({ per_guia, per_telefono }: Omit<Cuenta, 'solicitudes'>): Problema | undefined {
  const confirmHint = 'Confirme usted el lugar, con coordenadas o con un enlace de mapa.'
  if (per_guia > RESENDS_PER_GUIA)
    return new Problema(
      'limite_de_solicitudes',
      `Ya se reenvió ${RESENDS_PER_GUIA} veces a ese teléfono. ${confirmHint}`,
    )
  if (per_telefono >= PER_TELEFONO_PER_DAY)
    return new Problema(
      'limite_de_solicitudes',
      `A ese teléfono ya se le enviaron ${PER_TELEFONO_PER_DAY} solicitudes en 24 horas. Espere. ${confirmHint}`,
    )
  return undefined
}
