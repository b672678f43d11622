import type { Query } from '../../data/db.ts'
import type { AvanceSimulado, MotivoSinFirma } from '../../generated/contract/types/index.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { readEvidencePolicy } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { type StepWithConsequences, takeStepAnd } from '../eventos/evento.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { deliver, recordIntento } from '../pruebasEntrega/prueba.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { present } from '../records/guiaPresentation.ts'
import { registerScan } from '../scans/register.ts'
import { sampleEvidence, samplePhoto } from './sample.ts'
import { requireTestModo } from './simulador.ts'

const REMEDY = 'Confírmela antes con confirmar-ubicacion, del simulador.'

export const simularAvance: Handler<'simularAvance'> = async (input, deps) => {
  const { path, identity } = input
  requireTestModo(identity)
  const { result: guia, headers } = await doOnce(deps, 'simularAvance', input, {
    async perform(remember) {
      const caller = { ambito: identity, autor: identity.comercio, remedy: REMEDY, hasPrueba: true }
      const { sin_firma, ...reading } = input.body
      requireEntrega(input.body)
      const { guia } = await registerScan(deps, caller, path.guia, reading, (guiaRow, step) =>
        record(deps, guiaRow, step, sin_firma, (query) => remember(query, guiaRow.guia)),
      )
      return guia
    },
    reread: (guia) => findGuia(deps.db, identity, guia),
  })
  return { status: 200, headers, body: present(deps.settings, guia) }
}

/** Rejects a reason for a missing signature if the new state is not a delivery. */
function requireEntrega({ estado, sin_firma }: AvanceSimulado) {
  if (sin_firma === undefined || estado === 'entregado') return
  const mensaje = 'solo va con el estado entregado; omítalo'
  throw problemOfFaults('validacion', [{ campo: '/sin_firma', codigo: 'incompatible', mensaje }])
}

/**
 * Writes an event. For a delivery or a failed attempt, adds a sample proof in place of the proof that a courier would
 * upload.
 */
async function record(
  deps: Deps,
  guia: GuiaRow,
  step: StepWithConsequences,
  sin_firma: MotivoSinFirma | undefined,
  runLast: (query: Query) => Promise<void>,
) {
  if (step.estado === 'entregado') {
    const politica = await readEvidencePolicy(deps.db, guia.comercio_id)
    const evidencia = await sampleEvidence(deps, guia, politica, step.ocurrido_en, sin_firma)
    const { lat = null, lng = null } = evidencia
    return deliver(deps, guia, { ...step, lat, lng }, evidencia, { politica, doorPolicy: politica }, runLast)
  }
  if (step.estado === 'intento_fallido')
    return recordIntento(deps, guia, step, [await samplePhoto(deps, guia, step.ocurrido_en)], runLast)
  return takeStepAnd(deps, guia, step, runLast)
}
