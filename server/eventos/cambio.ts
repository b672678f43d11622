import type { Estado, Falla, Motivo } from '../contrato/generado/tipos/index.ts'
import { Problema, problemaDeFallas } from '../errores.ts'
import { exigeUbicacion, exigirTransicion, motivosDe, reportables, requiereAccion } from '../estados/estados.ts'
import { leerInstante } from '../formatos.ts'
import type { FilaGuia } from '../guias/guia.ts'
import type { FilaEvento, Paso } from './evento.ts'

// The rules of a courier's scan, whoever reports it: an operator, or the merchant of a test guide.

/** What is reported; without a state, a note. */
export interface CambioPedido {
  estado?: Estado
  motivo?: Motivo
  forzar?: { razon: string }
  ocurrido_en?: string
  fotos?: readonly string[]
}

export interface Cambio extends Omit<CambioPedido, 'ocurrido_en' | 'fotos'> {
  /** undefined: now. */
  ocurrido_en: Date | undefined
}

/** How far ahead of ours a reader's clock may be, in milliseconds. */
const ADELANTO = 5 * 60_000

/** @throws Problema 422 with what the schema can't say: the reason belongs to the state, and nothing happens in the future. */
export function leerCambio({ estado, motivo, forzar, ocurrido_en, fotos }: CambioPedido, ahora: Date): Cambio {
  const dicho = ocurrido_en === undefined ? undefined : leerInstante(ocurrido_en)
  const fallas: Falla[] = []
  if (dicho && dicho.getTime() > ahora.getTime() + ADELANTO) {
    fallas.push({
      campo: '/ocurrido_en',
      codigo: 'fuera_de_rango',
      mensaje: 'no puede estar más de 5 minutos en el futuro; revise el reloj del lector',
    })
  }
  const suyos = estado ? motivosDe(estado) : []
  if (motivo !== undefined && !suyos.includes(motivo)) {
    const mensaje =
      suyos.length > 0
        ? `debe ser uno de los motivos de ${estado}: ${suyos.join(', ')}`
        : `${estado ?? 'una anotación'} no lleva motivo; omítalo`
    fallas.push({ campo: '/motivo', codigo: 'valor_no_admitido', mensaje })
  }
  if (forzar !== undefined && estado !== 'en_ruta') {
    fallas.push({
      campo: '/forzar',
      codigo: 'incompatible',
      mensaje: 'solo vale para pasar a en_ruta sin ubicación confirmada; omítalo',
    })
  }
  if (fotos !== undefined && estado !== 'intento_fallido') {
    const mensaje = 'solo va con estado intento_fallido; las fotos de una entrega, con …/entrega'
    fallas.push({ campo: '/fotos', codigo: 'incompatible', mensaje })
  }
  if (fallas.length > 0) throw problemaDeFallas('validacion', fallas)
  return { estado, motivo, forzar, ocurrido_en: dicho }
}

/**
 * The step that a scan takes from the guide as it is now, by the rules of `x-transiciones`.
 * @param remedio what whoever reports can do about a place that isn't confirmed
 * @throws Problema 409
 */
export function pasoDe(guia: FilaGuia, cambio: Cambio, registrado_en: Date, remedio: string): Paso {
  // Without a time of its own it happens now, and now is never before the present state, whatever another process's clock says.
  const ocurrido_en = cambio.ocurrido_en ?? new Date(Math.max(registrado_en.getTime(), guia.estado_desde.getTime()))
  return { ocurrido_en, registrado_en, ...decidir(guia, cambio, ocurrido_en, remedio) }
}

function decidir(
  guia: FilaGuia,
  { estado, motivo: dado, forzar }: Cambio,
  ocurrido_en: Date,
  remedio: string,
): Omit<Paso, 'ocurrido_en' | 'registrado_en'> {
  if (estado === undefined) return { tipo: 'guia.nota' }
  const motivo = dado ?? null
  if (ocurrido_en < guia.estado_desde)
    return { tipo: 'guia.escaneo_tardio', motivo, datos: { estado_reportado: estado } }
  exigirTransicion(guia.estado, estado, reportables(guia.estado))
  const sinConfirmar = exigeUbicacion(estado) && guia.ubicacion_estado !== 'confirmada'
  if (sinConfirmar && !forzar) {
    throw new Problema('ubicacion_sin_confirmar', `La ubicación de la guía está ${guia.ubicacion_estado}. ${remedio}`, {
      estado: guia.estado,
    })
  }
  const intentos = guia.intentos + (estado === 'intento_fallido' ? 1 : 0)
  const datos: NonNullable<FilaEvento['datos']> = {
    ...(estado === 'intento_fallido'
      ? { numero_intento: intentos, requiere_accion: requiereAccion(estado, motivo) }
      : {}),
    ...(sinConfirmar && forzar ? { forzado: forzar } : {}),
  }
  return { tipo: `guia.${estado}`, estado, motivo, intentos, datos: Object.keys(datos).length > 0 ? datos : null }
}
