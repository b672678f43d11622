import type { Falla, UbicacionSimulada } from '../../generado/contrato/tipos/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { centroDe } from '../catalogo/catalogo.ts'
import type { Deps } from '../deps.ts'
import { siguientesDeUbicacion } from '../estados/estados.ts'
import { darPaso, sinCarrera } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia, presentar } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { exigirAbierta, mismoLugar, type Propuesta, pasoDeLugar } from '../ubicacion/ubicacion.ts'
import { exigirModoTest } from './simulador.ts'
import { fallarMensaje, sacarMensajes, vencer } from './solicitud.ts'

type Resultado = NonNullable<UbicacionSimulada['resultado']>

export const simularUbicacion: Handler<'simularUbicacion'> = async ({ path, body, identidad }, deps) => {
  const { db } = deps
  exigirModoTest(identidad)
  const respuesta = { resultado: 'confirmada' as const, ...body }
  exigirCoherencia(respuesta)
  const { resultado } = respuesta
  const guia = await sinCarrera(async () => {
    const primera = await buscarGuia(db, identidad, path.guia)
    const propuesta = resultado === 'confirmada' ? proponer(primera, respuesta) : undefined
    if (propuesta && mismoLugar(primera, propuesta)) return primera
    exigirPreguntada(primera)
    await sacarMensajes(deps, primera)
    const leida = await buscarGuia(db, identidad, path.guia)
    if (leida.ubicacion_estado === resultado && resultado !== 'confirmada') return leida
    exigirPosible(leida, resultado)
    if (propuesta) return confirmar(deps, leida, propuesta)
    await (resultado === 'vencida' ? vencer : fallarMensaje)(deps, leida)
    const movida = await buscarGuia(db, identidad, path.guia)
    return movida.ubicacion_estado === resultado ? movida : undefined
  })
  return { status: 200, body: presentar(deps.ajustes, guia) }
}

async function confirmar({ db, avisarTrabajo, reloj }: Deps, guia: FilaGuia, propuesta: Propuesta) {
  const paso = await darPaso({ db, avisarTrabajo }, guia, pasoDeLugar(guia, propuesta, reloj()))
  return paso?.guia
}

/** Rejects location fields if the request says that the simulated recipient gives no location. */
function exigirCoherencia({ resultado, ...lugar }: UbicacionSimulada) {
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
function proponer(guia: FilaGuia, { lat, lng, referencia }: UbicacionSimulada): Propuesta {
  const punto = lat === undefined || lng === undefined ? centroDe(guia.departamento, guia.municipio) : { lat, lng }
  if (!punto) {
    const mensaje = 'falta: el municipio de la guía no está en el catálogo, así que envíe lat y lng'
    throw problemOfFaults('validacion', [{ campo: '/lat', codigo: 'requerido', mensaje }])
  }
  return { enlace: null, ...punto, precision_m: null, referencia: referencia ?? null, origen: 'destinatario' }
}

/**
 * Rejects a guide whose location is confirmed or no longer needed, because a real recipient would not be asked any
 * more.
 */
function exigirPreguntada(guia: FilaGuia) {
  if (guia.ubicacion_estado === 'confirmada') {
    const desde = guia.ubicacion_extra?.confirmado_en ?? guia.creado_en.toISOString()
    throw new Problema(
      'ubicacion_ya_confirmada',
      `La ubicación está confirmada desde ${desde}; el destinatario ya no puede contestar.`,
    )
  }
  exigirAbierta(guia)
}

function exigirPosible({ ubicacion_estado }: FilaGuia, resultado: Resultado) {
  const posibles = siguientesDeUbicacion(ubicacion_estado)
  if (posibles.includes(resultado)) return
  throw new Problema(
    'transicion_invalida',
    `La ubicación está ${ubicacion_estado} y no puede pasar a ${resultado}. Puede pasar a ${posibles.join(', ')}.`,
  )
}
