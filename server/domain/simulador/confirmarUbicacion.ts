import type { Falla, UbicacionSimulada } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { centreOf } from '../catalogo/catalogo.ts'
import type { Deps } from '../deps.ts'
import { nextUbicacionStates } from '../estados/estados.ts'
import { retryLostRaces, takeStep } from '../eventos/evento.ts'
import type { Handler } from '../operation.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { present } from '../records/guiaPresentation.ts'
import { isSamePlace, type PlaceProposal, placeStep, requireOpen } from '../ubicacion/ubicacion.ts'
import { expireRequest, failMensaje, flushMensajes } from './request.ts'
import { requireTestModo } from './simulador.ts'

type SimulatedResult = NonNullable<UbicacionSimulada['resultado']>

export const simularUbicacion: Handler<'simularUbicacion'> = async ({ path, body, identity }, deps) => {
  const { db } = deps
  requireTestModo(identity)
  const response = { resultado: 'confirmada' as const, ...body }
  requireCoherence(response)
  const { resultado } = response
  const guia = await retryLostRaces(async () => {
    const firstGuia = await findGuia(db, identity, path.guia)
    const proposal = resultado === 'confirmada' ? proposePlace(firstGuia, response) : undefined
    if (proposal && isSamePlace(firstGuia, proposal)) return firstGuia
    requireAsked(firstGuia)
    await flushMensajes(deps, firstGuia)
    const storedGuia = await findGuia(db, identity, path.guia)
    if (storedGuia.ubicacion_estado === resultado && resultado !== 'confirmada') return storedGuia
    requirePossible(storedGuia, resultado)
    if (proposal) return confirmProposal(deps, storedGuia, proposal)
    await (resultado === 'vencida' ? expireRequest : failMensaje)(deps, storedGuia)
    const movedGuia = await findGuia(db, identity, path.guia)
    return movedGuia.ubicacion_estado === resultado ? movedGuia : undefined
  })
  return { status: 200, body: present(deps.settings, guia) }
}

async function confirmProposal({ db, notifyJobs, clock }: Deps, guia: GuiaRow, proposal: PlaceProposal) {
  const step = await takeStep({ db, notifyJobs }, guia, placeStep(guia, proposal, clock()))
  return step?.guia
}

/** Rejects location fields if the request says that the simulated recipient gives no location. */
function requireCoherence({ resultado, ...place }: UbicacionSimulada) {
  if (resultado === 'confirmada') return
  const faults = Object.keys(place).map(
    (field): Falla => ({
      campo: `/${field}`,
      codigo: 'incompatible',
      mensaje: 'solo va con el resultado confirmada; omítalo',
    }),
  )
  if (faults.length > 0) throw problemOfFaults('validacion', faults)
}

/** Returns the location that the simulated recipient gives; by default the centre of the declared municipality. */
function proposePlace(guia: GuiaRow, { lat, lng, referencia }: UbicacionSimulada): PlaceProposal {
  const point = lat === undefined || lng === undefined ? centreOf(guia.departamento, guia.municipio) : { lat, lng }
  if (!point) {
    const mensaje = 'falta: el municipio de la guía no está en el catálogo, así que envíe lat y lng'
    throw problemOfFaults('validacion', [{ campo: '/lat', codigo: 'requerido', mensaje }])
  }
  return { enlace: null, ...point, precision_m: null, referencia: referencia ?? null, origen: 'destinatario' }
}

/**
 * Rejects a guide whose location is confirmed or no longer needed, because a real recipient would not be asked any
 * more.
 */
function requireAsked(guia: GuiaRow) {
  if (guia.ubicacion_estado === 'confirmada') {
    const from = guia.ubicacion_extra?.confirmado_en ?? guia.creado_en.toISOString()
    throw new Problema(
      'ubicacion_ya_confirmada',
      `La ubicación está confirmada desde ${from}; el destinatario ya no puede contestar.`,
    )
  }
  requireOpen(guia)
}

function requirePossible({ ubicacion_estado }: GuiaRow, result: SimulatedResult) {
  const possibleStates = nextUbicacionStates(ubicacion_estado)
  if (possibleStates.includes(result)) return
  throw new Problema(
    'transicion_invalida',
    `La ubicación está ${ubicacion_estado} y no puede pasar a ${result}. Puede pasar a ${possibleStates.join(', ')}.`,
  )
}
