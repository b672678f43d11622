import { createTurns } from '../../api/http/turns.ts'
import type { EventoDeUnaGuia, EventoQueFallo, EventoQueSeRegistro } from '../../generado/contrato/tipos/index.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { MAX_BATCH_FAULTS, type Problema, problemOfFaults, translateError } from '../../platform/errors.ts'
import { presentarLectura } from '../eventos/registrar.ts'
import type { Handler } from '../operation.ts'
import { registrarDeReparto } from './registrarEvento.ts'

/** Maximum events of one request that are registered at the same time, because each needs a database connection. */
const A_LA_VEZ = 4

/** Placeholder for the default country of telephones; events contain no telephone. */
const SIN_PAIS = {}

/**
 * Registers up to 50 events of a courier, each about another guide. Answers 200 to any body that is a list of 1 to 50
 * entries. Each entry has its own result, identified by `indice`.
 */
export const registrarEventosDeReparto: Handler<'registrarEventosDeReparto'> = async (
  { body, identidad, idSolicitud },
  deps,
) => {
  const { ajustes, limites, log, turnosDeBusqueda, validacion } = deps
  const { repartidor } = identidad
  const { admit, explicar } = validacion.validador('EventoDeUnaGuia')
  // Only the envelope was validated (`x-sobre`). An entry may still be any JSON value.
  const enviados: readonly unknown[] = body.eventos
  const faltasPorEvento = Math.floor(MAX_BATCH_FAULTS / enviados.length)
  const vistas = new Set<string>()
  /**
   * Error of the database, once it has failed. The remaining events are then not tried, because each would wait for it.
   */
  let caida: Problema | undefined

  /**
   * Checks an entry of the request, and returns it as an event.
   * @throws Problema 422
   */
  const revisar = (enviado: unknown): EventoDeUnaGuia => {
    const admitted = admit(enviado, SIN_PAIS)
    if (!admitted) {
      const { dichas, omitidas } = explicar(enviado, faltasPorEvento, SIN_PAIS)
      const suyas = dichas.map((falla) => ({ ...falla, campo: falla.campo.replace(/^\/evento(?=\/)/, '') }))
      throw problemOfFaults('validacion', suyas, omitidas)
    }
    const una = admitted.value as EventoDeUnaGuia
    const codigo = normalizeGuideCode(una.guia)
    if (codigo !== undefined && vistas.size === vistas.add(codigo).size) {
      const mensaje = 'ya va en este envío; envíe después lo demás de esta guía'
      throw problemOfFaults('validacion', [{ campo: '/guia', codigo: 'valor_no_admitido', mensaje }])
    }
    return una
  }

  const registrar = async (enviado: unknown, indice: number): Promise<EventoQueSeRegistro | EventoQueFallo> => {
    try {
      const { guia, evento } = revisar(enviado)
      if (caida) throw caida
      const registro = await registrarDeReparto(deps, identidad, guia, evento)
      return { indice, ok: true, repetido: registro.repetido, evento: presentarLectura(registro) }
    } catch (error) {
      const problema = translateError(error)
      if (problema.codigo === 'no_disponible') caida = problema
      if (problema.codigo === 'error_interno')
        log.error({ err: error, id_solicitud: idSolicitud }, 'event not registered')
      return { indice, ok: false, error: problema.presentar(idSolicitud, ajustes.urlPublica) }
    }
  }

  // Requests of one courier run one at a time, so that each knows how many unknown codes the earlier requests have
  // named.
  const resultados = await turnosDeBusqueda(repartidor, async () => {
    limites.requireKnown(repartidor)
    const turno = createTurns(A_LA_VEZ)
    const todos = await Promise.all(enviados.map((enviado, indice) => turno(() => registrar(enviado, indice))))
    const desconocidas = todos.filter((uno) => !uno.ok && uno.error.codigo === 'guia_desconocida').length
    limites.countUnknown(repartidor, desconocidas)
    return todos
  })
  const advertencias = validacion.advertirDesconocidos('EventosDeReparto', body)
  return { status: 200, body: { resultados, advertencias } }
}
