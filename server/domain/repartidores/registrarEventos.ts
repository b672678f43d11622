import { createTurns } from '../../api/http/turns.ts'
import type { EventoDeUnaGuia, EventoQueFallo, EventoQueSeRegistro } from '../../generated/contract/types/index.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { MAX_BATCH_FAULTS, type Problema, problemOfFaults, translateError } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { presentScan } from '../scans/register.ts'
import { recordByRepartidor } from './registrarEvento.ts'

/** Maximum events of one request that are registered at the same time, because each needs a database connection. */
const CONCURRENCY = 4

/** Placeholder for the default country of telephones; events contain no telephone. */
const WITHOUT_COUNTRY = {}

/**
 * Registers up to 50 events of a courier, each about another guide. Answers 200 to any body that is a list of 1 to 50
 * entries. Each entry has its own result, identified by `indice`.
 */
export const registrarEventosDeReparto: Handler<'registrarEventosDeReparto'> = async (
  { body, identity, requestId },
  deps,
) => {
  const { settings, limits, log, searchTurns, validacion } = deps
  const { repartidor } = identity
  const { admit, explain } = validacion.validatorFor('EventoDeUnaGuia')
  // Only the envelope was validated (`x-sobre`). An entry may still be any JSON value.
  const sentEventos: readonly unknown[] = body.eventos
  const faultsPerEvento = Math.floor(MAX_BATCH_FAULTS / sentEventos.length)
  const seenGuias = new Set<string>()
  /**
   * Error of the database, once it has failed. The remaining events are then not tried, because each would wait for it.
   */
  let outage: Problema | undefined

  /**
   * Checks an entry of the request, and returns it as an event.
   * @throws Problema 422
   */
  const checkEvento = (sent: unknown): EventoDeUnaGuia => {
    const admitted = admit(sent, WITHOUT_COUNTRY)
    if (!admitted) {
      const { listedFaults, omittedCount } = explain(sent, faultsPerEvento, WITHOUT_COUNTRY)
      const ownFaults = listedFaults.map((fault) => ({ ...fault, campo: fault.campo.replace(/^\/evento(?=\/)/, '') }))
      throw problemOfFaults('validacion', ownFaults, omittedCount)
    }
    const eventoOfGuia = admitted.value as EventoDeUnaGuia
    const code = normalizeGuideCode(eventoOfGuia.guia)
    if (code !== undefined && seenGuias.size === seenGuias.add(code).size) {
      const mensaje = 'ya va en este envío; envíe después lo demás de esta guía'
      throw problemOfFaults('validacion', [{ campo: '/guia', codigo: 'valor_no_admitido', mensaje }])
    }
    return eventoOfGuia
  }

  const registrar = async (sent: unknown, indice: number): Promise<EventoQueSeRegistro | EventoQueFallo> => {
    try {
      const { guia, evento } = checkEvento(sent)
      if (outage) throw outage
      const registered = await recordByRepartidor(deps, identity, guia, evento)
      return { indice, ok: true, repetido: registered.repetido, evento: presentScan(registered) }
    } catch (error) {
      const problema = translateError(error)
      if (problema.codigo === 'no_disponible') outage = problema
      if (problema.codigo === 'error_interno')
        log.error({ err: error, id_solicitud: requestId }, 'event not registered')
      return { indice, ok: false, error: problema.present(requestId, settings.publicUrl) }
    }
  }

  // Requests of one courier run one at a time, so that each knows how many unknown codes the earlier requests have
  // named.
  const resultados = await searchTurns(repartidor, async () => {
    limits.requireKnown(repartidor)
    const turn = createTurns(CONCURRENCY)
    const results = await Promise.all(sentEventos.map((sent, index) => turn(() => registrar(sent, index))))
    const desconocidas = results.filter((result) => !result.ok && result.error.codigo === 'guia_desconocida').length
    limits.countUnknown(repartidor, desconocidas)
    return results
  })
  const advertencias = validacion.warnUnknownMembers('EventosDeReparto', body)
  return { status: 200, body: { resultados, advertencias } }
}
