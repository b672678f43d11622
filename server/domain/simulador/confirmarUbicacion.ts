import type { Falla, UbicacionSimulada } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { centreOf } from '../catalogo/catalogo.ts'
import type { Deps } from '../deps.ts'
import { nextUbicacionStates } from '../estados/estados.ts'
import { darPaso, retryLostRaces } from '../eventos/evento.ts'
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
  const respuesta = { resultado: 'confirmada' as const, ...body }
  requireCoherence(respuesta)
  const { resultado } = respuesta
  const guia = await retryLostRaces(async () => {
    const firstGuia = await findGuia(db, identity, path.guia)
    const proposal = resultado === 'confirmada' ? proposePlace(firstGuia, respuesta) : undefined
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
  const paso = await darPaso({ db, notifyJobs }, guia, placeStep(guia, proposal, clock()))
  return paso?.guia
}

/** Rejects location fields if the request says that the simulated recipient gives no location. */
function requireCoherence({ resultado, ...lugar }: UbicacionSimulada) {
  if (resultado === 'confirmada') return
  const fallas = Object.keys(lugar).map(
    (campo): Falla => ({
      campo: `/${campo}`,
      codigo: 'incompatible',
      mensaje: 'solo va con el resultado confirmada; omítalo',
    }),
  )
  if (fallas.length > 0) throw problemOfFaults('validacion', fallas)
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
    const desde = guia.ubicacion_extra?.confirmado_en ?? guia.creado_en.toISOString()
    throw new Problema(
      'ubicacion_ya_confirmada',
      `La ubicación está confirmada desde ${desde}; el destinatario ya no puede contestar.`,
    )
  }
  requireOpen(guia)
}

function requirePossible({ ubicacion_estado }: GuiaRow, resultado: SimulatedResult) {
  const possibleStates = nextUbicacionStates(ubicacion_estado)
  if (possibleStates.includes(resultado)) return
  throw new Problema(
    'transicion_invalida',
    `La ubicación está ${ubicacion_estado} y no puede pasar a ${resultado}. Puede pasar a ${possibleStates.join(', ')}.`,
  )
}
