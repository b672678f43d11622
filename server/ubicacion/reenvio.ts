import type { mensaje } from '../contrato/generado/prisma/client.ts'
import type { CanalDeMensaje } from '../contrato/generado/tipos/index.ts'
import { enTransaccion, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { Problema } from '../errores.ts'
import { deGuia } from '../eventos/evento.ts'
import { type FilaGuia, venceAlCrear } from '../guias/guia.ts'
import { enCadaMotor, enSuMaquina, sinCopiar } from '../motor.ts'

/** Beside the first one; and over all merchants, for it is one person's phone. */
const REENVIOS_POR_GUIA = 3
const POR_TELEFONO_AL_DIA = 5
const DIA = 86_400_000

/** Of several requests for one phone each counts those before it, whichever guide or merchant they are for. */
const TURNO = sentencia<Pick<FilaGuia, 'modo' | 'telefono'>>(
  'mensajes.turno',
  `select pg_advisory_xact_lock(hashtextextended(:modo || ' ' || :telefono, 0))`,
)

/** Of everybody's requests, which a merchant doesn't see: on Citus all machines are asked. */
const DE_TELEFONO = sentencia<DelTelefono, { de_telefono: number }>('mensajes.deTelefono', {
  postgres: 'select solicitudes_al_telefono(:telefono, :modo, :desde) as de_telefono',
  citus: `select count(*)::int as de_telefono from mensaje where telefono = :telefono and modo = :modo and creado_en > :desde
      and tipo = 'solicitud_ubicacion' and estado <> 'descartado'`,
})
type DelTelefono = Pick<FilaGuia, 'modo' | 'telefono'> & { desde: Date }

const CUENTA = sentencia<ReturnType<typeof deGuia>, Omit<Cuenta, 'de_telefono'>>(
  'mensajes.cuenta',
  `select (select count(*) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and tipo = 'solicitud_ubicacion')::int as de_guia,
     (select max(numero) from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id)::int
       as ultimo`,
)

/**
 * Guarded by the guide's sequence, like every step; the older requests are nobody's business any more, but their links
 * work.
 */
const PEDIR = sentencia<
  ReturnType<typeof deGuia> &
    Pick<FilaGuia, 'secuencia'> & {
      /** How many requests the guide has, this one included. */
      solicitudes: number
      canal: CanalDeMensaje
      ahora: Date
    } & Pick<mensaje, 'numero' | 'id'>,
  FilaGuia
>(
  'mensajes.pedir',
  enCadaMotor(
    (citus) => `with g as (
     update guia set ubicacion_extra = coalesce(ubicacion_extra, '{}') || jsonb_build_object('solicitud',
       jsonb_build_object('numero', :solicitudes::int, 'canal', :canal::text, 'estado', 'pendiente',
         'creado_en', :ahora::timestamptz))
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and secuencia = :secuencia
       and coalesce((ubicacion_extra #>> '{solicitud,numero}')::int, 0) < :solicitudes returning *
   ), m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select comercio_id, modo, id, :numero::int, :id::uuid, guia, :canal, 'solicitud_ubicacion', telefono, 'pendiente',
       ${venceAlCrear('modo', ':canal', ':ahora')}, :ahora from ${enSuMaquina(citus, 'g')}${sinCopiar(citus)}
   )
   select * from g`,
  ),
)

/**
 * Asks a guide's recipient for the place once more, at his own telephone and within what one guide and one telephone get,
 * whoever wants it.
 * @returns the guide, or undefined when somebody else moved it meanwhile
 * @throws Problema 409 `limite_de_solicitudes`
 */
export async function pedirOtraVez(
  { db, reloj, nuevoId, canalDe }: Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'canalDe'>,
  leida: FilaGuia,
): Promise<FilaGuia | undefined> {
  const ahora = reloj()
  // On Citus who counts everybody's requests writes, too: another connection for it would be waited for by all who hold one.
  const quien = db.motor === 'citus' ? db.como('guias_operacion') : db
  const { exceso, pedida } = await enTransaccion(quien, async (consultar) => {
    const { modo, telefono, secuencia } = leida
    await consultar(TURNO, { modo, telefono })
    const desde = new Date(ahora.getTime() - DIA)
    const [cuenta] = await consultar(CUENTA, deGuia(leida))
    const [deTodos] = await consultar(DE_TELEFONO, { modo, telefono, desde })
    const exceso = medir({ ...cuenta!, ...deTodos! })
    if (exceso) return { exceso }
    const [pedida] = await consultar(PEDIR, {
      ...deGuia(leida),
      secuencia,
      solicitudes: cuenta!.de_guia + 1,
      canal: canalDe(modo),
      ahora,
      numero: (cuenta!.ultimo ?? 0) + 1,
      id: nuevoId().id,
    })
    return { pedida }
  })
  if (exceso) throw exceso
  return pedida
}

interface Cuenta {
  de_guia: number
  /** The number of the guide's newest message, of whatever type. */
  ultimo: number | null
  de_telefono: number
}

function medir({ de_guia, de_telefono }: Cuenta): Problema | undefined {
  const confirme = 'Confirme usted el lugar, con coordenadas o con un enlace de mapa.'
  if (de_guia > REENVIOS_POR_GUIA)
    return new Problema('limite_de_solicitudes', `Ya se reenvió ${REENVIOS_POR_GUIA} veces. ${confirme}`)
  if (de_telefono >= POR_TELEFONO_AL_DIA)
    return new Problema(
      'limite_de_solicitudes',
      `A ese teléfono ya se le enviaron ${POR_TELEFONO_AL_DIA} solicitudes en 24 horas. Espere. ${confirme}`,
    )
  return undefined
}
