import type { mensaje } from '../contrato/generado/prisma/client.ts'
import type { CanalDeMensaje } from '../contrato/generado/tipos/index.ts'
import { askAll } from '../data/spread.ts'
import { inTurn } from '../data/turns.ts'
import { sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { Problema } from '../errores.ts'
import { deGuia } from '../eventos/evento.ts'
import { type FilaGuia, venceAlCrear } from '../guias/guia.ts'

/** Beside the first one; and over all merchants, for it is one person's phone. */
const REENVIOS_POR_GUIA = 3
const POR_TELEFONO_AL_DIA = 5
const DIA = 86_400_000

/** Of everybody's requests, which a merchant doesn't see. */
const DE_TELEFONO = sentencia<DelTelefono, { cuantas: number }>(
  'mensajes.deTelefono',
  `select count(*)::int as cuantas from mensaje where telefono = :telefono and modo = :modo and creado_en > :desde
     and tipo = 'solicitud_ubicacion' and estado <> 'descartado'`,
  { alcance: 'parte' },
)
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
  `with g as (
     update guia set ubicacion_extra = coalesce(ubicacion_extra, '{}') || jsonb_build_object('solicitud',
       jsonb_build_object('numero', :solicitudes::int, 'canal', :canal::text, 'estado', 'pendiente',
         'creado_en', :ahora::timestamptz))
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and secuencia = :secuencia
       and coalesce((ubicacion_extra #>> '{solicitud,numero}')::int, 0) < :solicitudes returning *
   ), m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select comercio_id, modo, id, :numero::int, :id::uuid, guia, :canal, 'solicitud_ubicacion', telefono, 'pendiente',
       ${venceAlCrear('modo', ':canal', ':ahora')}, :ahora from g
   )
   select * from g`,
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
  const { modo, telefono, secuencia, comercio_id } = leida
  // Of several requests for one phone each counts those before it, whichever guide or merchant they are for.
  return inTurn(db, `${modo} ${telefono}`, async () => {
    const desde = new Date(ahora.getTime() - DIA)
    const deTodos = await askAll(db.como('guias_operacion'), ({ consultar }) =>
      consultar(DE_TELEFONO, { modo, telefono, desde }),
    )
    const suya = db.de(comercio_id)
    const [cuenta] = await suya.consultar(CUENTA, deGuia(leida))
    const de_telefono = deTodos.reduce((suma, { cuantas }) => suma + cuantas, 0)
    const exceso = medir({ ...cuenta!, de_telefono })
    if (exceso) throw exceso
    const [pedida] = await suya.consultar(PEDIR, {
      ...deGuia(leida),
      secuencia,
      solicitudes: cuenta!.de_guia + 1,
      canal: canalDe(modo),
      ahora,
      numero: (cuenta!.ultimo ?? 0) + 1,
      id: nuevoId().id,
    })
    return pedida
  })
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
