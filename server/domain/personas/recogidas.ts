// Data of a person who hands over the parcels: the contact of a guide's pickup, present or replaced by a correction. The
// guide belongs to another recipient, whose data stays.

import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { esFinal } from '../estados/estados.ts'
import { deGuia } from '../eventos/evento.ts'
import type { FilaGuia, RecogidaGuardada } from '../guias/campos.ts'
import type { Cambios } from '../guias/correcciones.ts'
import {
  type ClaveDeGuia,
  type Corregida,
  guardarCambios,
  leerCorrecciones,
  legibles,
  tomarGuia,
} from './correcciones.ts'
import {
  borrarRespuestas,
  type DeQuien,
  de,
  enCada,
  FINALES,
  PRIMERA,
  RECOGIDA_BORRADA,
  RECOGIDA_BORRADA_EN_SQL,
} from './persona.ts'

/**
 * Maximum number of guides that one statement scans. No index has the telephone of a pickup: it would cost each creation,
 * and only these rare requests would use it.
 */
const LOTE = 2_000
/** Maximum number of guides per transaction. */
const POR_TRANSACCION = 100

type Leida = Pick<FilaGuia, 'comercio_id' | 'modo' | 'id' | 'guia' | 'recogida'> & {
  comercio: string
  nombre: string
  terminada: boolean
  /** Corrections in the order of their events; null if there are none. */
  correcciones: { secuencia: number; registrado_en: string; cambios: string }[] | null
}

/**
 * Scans the next guides. Returns those with this telephone in the pickup or with corrections, which are encrypted, and
 * the last guide of the scan.
 */
const GUIAS = statement<DeQuien & { desde: string }, Leida>(
  'personas.recogidas',
  `with v as materialized (
     select comercio_id, modo, id, guia, recogida, ultima_correccion, ${FINALES} as terminada from guia
     where (:comercio_id::uuid is null or comercio_id = :comercio_id) and id > :desde order by id limit ${LOTE}
   )
   select v.comercio_id, v.modo, v.id, v.guia, v.recogida, v.terminada, c.comercio, c.nombre,
     (select json_agg(json_build_object('secuencia', e.secuencia, 'registrado_en', e.registrado_en,
         'cambios', encode(e.cambios, 'base64')) order by e.secuencia)
       from evento e where ${de('e')} and e.cambios is not null) as correcciones
   from v join comercio c on c.id = v.comercio_id
   where v.recogida ->> 'telefono' = :telefono or v.ultima_correccion is not null
     or v.id = (select u.id from v u order by u.id desc limit 1)
   order by v.id`,
  { alcance: 'parte' },
)

/** Guide in whose pickup a telephone stands or stood. */
interface Hallada extends Omit<Leida, 'correcciones'> {
  /** True if the telephone stands in the present pickup. */
  presente: boolean
  correcciones: readonly Corregida[]
}

const esDe = (telefono: string, recogida: RecogidaGuardada | undefined) => recogida?.telefono === telefono

/** Returns the pickups in a correction that have the telephone. */
function suyasEn(telefono: string, { recogida }: Cambios): { antes?: RecogidaGuardada; despues?: RecogidaGuardada } {
  const { antes, despues } = recogida ?? {}
  return {
    ...(antes && esDe(telefono, antes) && { antes }),
    ...(despues && esDe(telefono, despues) && { despues }),
  }
}

const tieneSuyas = (telefono: string, cambios: Cambios) => Object.keys(suyasEn(telefono, cambios)).length > 0

function descifrar(secretos: Secrets, { id, correcciones }: Leida): Corregida[] {
  return (correcciones ?? []).map(({ secuencia, registrado_en, cambios }) => ({
    secuencia,
    registrado_en: new Date(registrado_en),
    cambios: legibles(secretos, { guia_id: id, secuencia }, Buffer.from(cambios, 'base64')),
  }))
}

/** Reads all guides in whose pickup the telephone stands or stood, by scanning all guides. */
async function* guiasConRecogida(consultar: Query, secretos: Secrets, suya: DeQuien): AsyncGenerator<Hallada> {
  const { telefono } = suya
  for (let desde: string | undefined = PRIMERA; desde !== undefined; ) {
    const leidas: Leida[] = await consultar(GUIAS, { ...suya, desde })
    for (const leida of leidas) {
      const presente = esDe(telefono, leida.recogida)
      const correcciones = descifrar(secretos, leida)
      if (presente || correcciones.some(({ cambios }) => tieneSuyas(telefono, cambios)))
        yield { ...leida, presente, correcciones }
    }
    desde = leidas.at(-1)?.id
  }
}

/** Returns each pickup with the telephone, present and former, by guide. */
export async function exportarRecogidas({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, suya: DeQuien) {
  const exportadas = await enCada(db, suya, async ({ consultar }) => {
    const guias = []
    for await (const hallada of guiasConRecogida(consultar, secretos, suya)) {
      const { guia, comercio, nombre, modo, presente, recogida, correcciones } = hallada
      guias.push({
        guia,
        comercio: { comercio, nombre },
        modo,
        recogida: presente ? recogida : null,
        correcciones: correcciones.flatMap(({ secuencia, registrado_en, cambios }) =>
          tieneSuyas(suya.telefono, cambios)
            ? [{ secuencia, registrado_en: registrado_en.toISOString(), recogida: suyasEn(suya.telefono, cambios) }]
            : [],
        ),
      })
    }
    return guias
  })
  return exportadas.flat()
}

/**
 * Empties the pickup of a guide if it has the telephone. Also erases the responses of merchants' servers, which may
 * repeat a pickup.
 */
const BORRAR_RECOGIDA = statement<ClaveDeGuia & { telefono: string }>(
  'personas.borrarRecogida',
  `with v as (
     select comercio_id, modo, id from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id
   ), ${borrarRespuestas()}
   update guia g set recogida = ${RECOGIDA_BORRADA_EN_SQL} from v
   where g.comercio_id = v.comercio_id and g.modo = v.modo and g.id = v.id and g.recogida ->> 'telefono' = :telefono`,
)

/** Returns the values of a correction without the pickups that have the telephone. */
function sinSuyas(telefono: string, cambios: Cambios): Cambios {
  const sin = (recogida: RecogidaGuardada) => (esDe(telefono, recogida) ? RECOGIDA_BORRADA : recogida)
  const { antes, despues } = cambios.recogida!
  return { ...cambios, recogida: { antes: sin(antes), despues: sin(despues) } }
}

/** @returns false if the guide keeps the pickup, because a courier may still need it */
async function olvidarRecogida(
  consultar: Query,
  secretos: Secrets,
  telefono: string,
  clave: ClaveDeGuia,
): Promise<boolean> {
  const { recogida, estado } = await tomarGuia(consultar, clave)
  if (esDe(telefono, recogida) && !esFinal(estado)) return false
  for (const { secuencia, cambios } of await leerCorrecciones(consultar, secretos, clave)) {
    if (tieneSuyas(telefono, cambios))
      await guardarCambios(consultar, secretos, { ...clave, secuencia }, sinSuyas(telefono, cambios))
  }
  await consultar(BORRAR_RECOGIDA, { ...clave, telefono })
  return true
}

/** Result of the erasure of a contact of pickups. */
interface Recogidas {
  /** Number of guides in which something was erased. */
  recogidas: number
  /** Codes of the guides that have not ended, and whose present pickup has the telephone. */
  detenidas: string[]
}

/**
 * Erases the pickups with the telephone in ended guides, and the replaced ones in all guides. The present pickup of a
 * guide under way stays, because the parcel may return there.
 */
export async function olvidarRecogidas(
  { db, secretos, bitacora }: Pick<Deps, 'db' | 'secretos' | 'bitacora'>,
  quien: Quien,
  suya: DeQuien,
): Promise<Recogidas> {
  const detenidas: string[] = []
  let recogidas = 0
  await enCada(db, suya, async (parte) => {
    const porHacer: Hallada[] = []
    for await (const hallada of guiasConRecogida(parte.consultar, secretos, suya)) {
      if (hallada.presente && !hallada.terminada) detenidas.push(hallada.guia)
      else porHacer.push(hallada)
    }
    while (porHacer.length > 0) {
      const unas = porHacer.splice(0, POR_TRANSACCION)
      recogidas += await inTransaction(parte, async (consultar) => {
        let guias = 0
        for (const una of unas) {
          if (await olvidarRecogida(consultar, secretos, suya.telefono, deGuia(una))) guias++
          else detenidas.push(una.guia)
        }
        await bitacora.anotar(consultar, quien, { accion: 'olvidarPersona', campos: ['telefono'], despues: { guias } })
        return guias
      })
    }
  })
  return { recogidas, detenidas }
}
