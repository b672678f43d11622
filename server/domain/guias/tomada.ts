import { inTransaction, type Query, statement } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'
import { deGuia } from '../eventos/evento.ts'
import type { Recordar } from '../idempotencia/idempotencia.ts'
import { type AmbitoDeGuias, buscarGuia, type FilaGuia } from './guia.ts'

/** Dependencies of work on a locked guide. */
export type DepsDeTomada = Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'secretos' | 'avisarTrabajo' | 'canalDe'>

/** Dependencies of work in the transaction that locks a guide. `avisarTrabajo` takes effect after the commit. */
export interface Escritor extends Omit<DepsDeTomada, 'db'> {
  consultar: Query
}

/** Locked guide, with the number of its corrections and of the messages that asked for its location. */
export type GuiaTomada = FilaGuia & { correcciones: number; solicitudes: number }

/** Locks the guide, so that its corrections, decisions, scans and messages come one after another. */
const TOMAR = statement<ReturnType<typeof deGuia>, GuiaTomada>(
  'guias.tomar',
  `select g.*,
     (select count(*)::int from evento e where e.comercio_id = g.comercio_id and e.modo = g.modo and e.guia_id = g.id
       and e.cambios is not null) as correcciones,
     (select count(*)::int from mensaje m where m.comercio_id = g.comercio_id and m.modo = g.modo and m.guia_id = g.id
       and m.tipo = 'solicitud_ubicacion') as solicitudes
   from guia g where comercio_id = :comercio_id and modo = :modo and id = :guia_id for update`,
)

/**
 * Locks a guide and works on it, in one transaction. Notifies workers after the commit.
 * @param secuencia sequence that the guide must have; undefined: any
 * @param recordar stores the request's key in the same transaction
 * @param hacer returns the guide's row afterwards
 * @throws Problema 404; 409 `carrera_perdida`
 */
export async function conGuiaTomada(
  deps: DepsDeTomada,
  ambito: AmbitoDeGuias,
  codigo: string,
  secuencia: number | undefined,
  recordar: Recordar,
  hacer: (escritor: Escritor, tomada: GuiaTomada) => Promise<FilaGuia>,
): Promise<FilaGuia & { comercio: string }> {
  const hallada = await buscarGuia(deps.db, ambito, codigo)
  const avisos: Parameters<Deps['avisarTrabajo']>[] = []
  const guia = await inTransaction(deps.db.de(hallada.comercio_id), async (consultar) => {
    avisos.length = 0
    const [tomada] = await consultar(TOMAR, deGuia(hallada))
    if (secuencia !== undefined && secuencia !== tomada!.secuencia)
      throw new Problema(
        'carrera_perdida',
        `La guía va por la secuencia ${tomada!.secuencia}, y la solicitud es de la ${secuencia}. Lea la guía y decida otra vez.`,
        { secuencia: tomada!.secuencia },
      )
    const hecha = await hacer({ ...deps, consultar, avisarTrabajo: (...aviso) => avisos.push(aviso) }, tomada!)
    await recordar(consultar, hecha.guia)
    return hecha
  })
  for (const aviso of avisos) deps.avisarTrabajo(...aviso)
  return { ...guia, comercio: hallada.comercio }
}
