import { createOwnerTurns, createTurns } from '../../api/http/turns.ts'
import { type Db, statement } from '../../data/db.ts'
import type { EnsayoDeRecuperacion } from '../../generado/contrato/tipos/index.ts'
import { unavailable } from '../../platform/errors.ts'
import { eventosPorRecuperar, findRange, type PorRecuperar, porEnviar, type RecoveryPosition } from './recuperacion.ts'

/** Maximum number of events that one statement of a dry run reads: some ten milliseconds of the database. */
const PASO = 1_000
/** Maximum number of events that a dry run reads. */
const MAXIMO = 50_000
/** Maximum duration of a dry run, in milliseconds, because a client waits for the response. */
const PLAZO = 2_000
/** Maximum concurrent statements of dry runs, over all merchants: a quarter of the process's connections. */
const A_LA_VEZ = 2

interface Paso {
  eventos: number
  mirados: number
  entregas: number
  ultimo: Omit<RecoveryPosition, 'fin' | 'tope'> | null
}

const ENSAYAR = statement<PorRecuperar, Paso>(
  'recuperacion.ensayar',
  `with v as materialized (${eventosPorRecuperar(PASO)})
   select count(*) filter (where suyo)::int as eventos, count(*)::int as mirados,
     count(*) filter (where suyo and ${porEnviar('e')})::int as entregas,
     (select json_build_object('xid', xid::text, 'guia_id', guia_id, 'secuencia', secuencia) from v
      order by v.xid desc, guia_id desc, secuencia desc limit 1) as ultimo
   from v left join webhook_aviso e on v.suyo and e.comercio_id = v.comercio_id and e.modo = v.modo
     and e.webhook = :webhook and e.guia_id = v.guia_id and e.secuencia = v.secuencia`,
)

/** Parameters of a dry run. */
export type DryRunInput = Omit<PorRecuperar, keyof RecoveryPosition>

/** Counts the deliveries that a recovery would send. Stops early if the count takes too long. */
export type DryRun = (pedida: DryRunInput, senal: AbortSignal) => Promise<EnsayoDeRecuperacion>

/**
 * Creates the function for dry runs. Each merchant has one dry run at a time, in steps that take turns with the steps
 * of other merchants. Most connections therefore remain for other requests, for any number of dry runs.
 * @param ms clock in milliseconds, of which only differences matter
 */
export function createDryRuns(db: Db, ms = () => performance.now()): DryRun {
  const porComercio = createOwnerTurns(1)
  const turno = createTurns(A_LA_VEZ)
  return (pedida, senal) =>
    porComercio(pedida.comercio_id, async () => {
      if (senal.aborted) throw unavailable('La solicitud se abandonó.')
      const fin = ms() + PLAZO
      const { comercio_id: comercioId, modo, desde, hasta } = pedida
      const suya = db.como('guias_api', [comercioId])
      let posicion = await turno(() => findRange(suya, { comercioId, modo }, desde, hasta))
      const suma = { eventos: 0, avisos: 0 }
      for (let mirados = 0; mirados < MAXIMO && ms() < fin && !senal.aborted; mirados += PASO) {
        const [paso] = await turno(() => suya.consultar(ENSAYAR, { ...pedida, ...posicion }))
        suma.eventos += paso!.eventos
        suma.avisos += paso!.entregas
        if (paso!.mirados < PASO) return { ...suma, exacto: true }
        posicion = { ...posicion, ...paso!.ultimo }
      }
      return { ...suma, exacto: false }
    })
}
