import { inTransaction, type Query, statement } from '../../data/db.ts'
import { askAll } from '../../data/spread.ts'
import { inTurn } from '../../data/turns.ts'
import type { mensaje } from '../../generado/contrato/prisma/client.ts'
import type { CanalDeMensaje } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'
import { deGuia } from '../eventos/evento.ts'
import { type FilaGuia, venceAlCrear } from '../guias/guia.ts'

/** Maximum resends to a guide's telephone, besides the first request. */
export const REENVIOS_POR_GUIA = 3
/**
 * Maximum requests to one telephone within 24 hours from all merchants together, because a telephone belongs to one
 * person.
 */
const POR_TELEFONO_AL_DIA = 5
const DIA = 86_400_000

/** Counts the requests of all merchants to a telephone; a merchant cannot see the requests of others. */
const DE_TELEFONO = statement<DelTelefono, { cuantas: number }>(
  'mensajes.deTelefono',
  `select count(*)::int as cuantas from mensaje where telefono = :telefono and modo = :modo and creado_en > :desde
     and tipo = 'solicitud_ubicacion' and estado <> 'descartado'`,
  { alcance: 'parte' },
)
type DelTelefono = Pick<FilaGuia, 'modo' | 'telefono'> & { desde: Date }

const CUENTA = statement<ReturnType<typeof deGuia> & Pick<FilaGuia, 'telefono'>, Omit<Cuenta, 'de_telefono'>>(
  'mensajes.cuenta',
  `select (select count(*) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and tipo = 'solicitud_ubicacion')::int as solicitudes,
     (select count(*) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and tipo = 'solicitud_ubicacion' and telefono = :telefono)::int as de_guia,
     (select max(numero) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id)::int
       as ultimo`,
)

/**
 * Adds a location request. Requires that the guide still has the sequence that was read and, unless `previa` is null,
 * the request that was read. A request does not change the sequence. The guide then shows only the new request; the
 * links of older requests still work.
 */
const PEDIR = statement<
  ReturnType<typeof deGuia> &
    Pick<FilaGuia, 'secuencia'> & {
      /** Number of requests of the guide, including this one. */
      solicitudes: number
      /** Number of the request that the guide must have, 0 for none; null: any. */
      previa: number | null
      canal: CanalDeMensaje
      ahora: Date
    } & Pick<mensaje, 'numero' | 'id'>,
  FilaGuia
>(
  'mensajes.pedir',
  `with g as (
     update guia set ubicacion_extra = coalesce(ubicacion_extra, '{}') || jsonb_build_object('solicitud',
       jsonb_build_object('numero', :solicitudes::int, 'canal', :canal::text, 'estado', 'pendiente',
         'creado_en', :ahora::timestamptz))
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and secuencia = :secuencia
       and coalesce((ubicacion_extra #>> '{solicitud,numero}')::int, 0) < :solicitudes
       and coalesce(:previa::int = coalesce((ubicacion_extra #>> '{solicitud,numero}')::int, 0), true) returning *
   ), m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select comercio_id, modo, id, :numero::int, :id::uuid, guia, :canal, 'solicitud_ubicacion', telefono, 'pendiente',
       ${venceAlCrear('modo', ':canal', ':ahora')}, :ahora from g
   )
   select * from g`,
)

/**
 * Queues another location request to the guide's own telephone. The limits per guide and per telephone apply to
 * merchants and recipients alike.
 * @param alFinal runs last in the transaction of the request
 * @param previa number of the request that the guide must still have, 0 for none; null: any
 * @returns the guide, or undefined if another request changed it meanwhile
 * @throws Problema 409 `limite_de_solicitudes`
 */
export async function pedirOtraVez(
  { db, reloj, nuevoId, canalDe }: Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'canalDe'>,
  leida: FilaGuia,
  {
    alFinal = async () => {},
    previa = null,
  }: { alFinal?: (consultar: Query) => Promise<unknown>; previa?: number | null },
): Promise<FilaGuia | undefined> {
  const ahora = reloj()
  const { modo, telefono, secuencia, comercio_id } = leida
  // Requests for one telephone run one after another, so that each request counts the earlier requests of every guide
  // and merchant.
  return inTurn(db, `${modo} ${telefono}`, async () => {
    const desde = new Date(ahora.getTime() - DIA)
    const deTodos = await askAll(db.como('guias_operacion'), ({ consultar }) =>
      consultar(DE_TELEFONO, { modo, telefono, desde }),
    )
    const suya = db.de(comercio_id)
    const [cuenta] = await suya.consultar(CUENTA, { ...deGuia(leida), telefono })
    const de_telefono = deTodos.reduce((suma, { cuantas }) => suma + cuantas, 0)
    const exceso = medir({ ...cuenta!, de_telefono })
    if (exceso) throw exceso
    return inTransaction(suya, async (consultar) => {
      const [pedida] = await consultar(PEDIR, {
        ...deGuia(leida),
        secuencia,
        solicitudes: cuenta!.solicitudes + 1,
        previa,
        canal: canalDe(modo),
        ahora,
        numero: (cuenta!.ultimo ?? 0) + 1,
        id: nuevoId().id,
      })
      if (pedida) await alFinal(consultar)
      return pedida
    })
  })
}

interface Cuenta {
  /** Number of the guide's requests. */
  solicitudes: number
  /** Number of the guide's requests to its present telephone. */
  de_guia: number
  /** Number of the guide's newest message, of any type; null without messages. */
  ultimo: number | null
  de_telefono: number
}

function medir({ de_guia, de_telefono }: Omit<Cuenta, 'solicitudes'>): Problema | undefined {
  const confirme = 'Confirme usted el lugar, con coordenadas o con un enlace de mapa.'
  if (de_guia > REENVIOS_POR_GUIA)
    return new Problema('limite_de_solicitudes', `Ya se reenvió ${REENVIOS_POR_GUIA} veces a ese teléfono. ${confirme}`)
  if (de_telefono >= POR_TELEFONO_AL_DIA)
    return new Problema(
      'limite_de_solicitudes',
      `A ese teléfono ya se le enviaron ${POR_TELEFONO_AL_DIA} solicitudes en 24 horas. Espere. ${confirme}`,
    )
  return undefined
}
