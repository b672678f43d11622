import type {
  Falla,
  GuiaIndividual,
  Recogida,
  ResultadoCreado,
  ResultadoFallido,
} from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { MAXIMO_DE_FALLAS, MAXIMO_DE_FALLAS_DEL_LOTE, type Problema, problemaDeFallas } from '../errores.ts'
import type { Verdicto } from './escritura.ts'
import { type DatosDeGuia, normalizar } from './guia.ts'

type Elemento = { datos: DatosDeGuia } | { fallas: Falla[] }

/** Always 200 for a well-formed envelope: every element has its own verdict at its `indice`. */
export const crearLote: Handler<'crearLote'> = async ({ body }, { identidad, escritura, validacion, idSolicitud }) => {
  const validar = validacion.validador('GuiaIndividual')
  // The contract's item schema was loosened for the envelope: from here on an element may be anything.
  const elementos = (body.guias as readonly unknown[]).map((elemento) => leerElemento(elemento, body.recogida, validar))
  const validas = elementos.flatMap((elemento) => ('datos' in elemento ? [elemento.datos] : []))
  const verdictos = await escritura.crearVarias(identidad.comercioId, identidad.modo, validas)

  let cupo = MAXIMO_DE_FALLAS_DEL_LOTE
  let defectuosas = elementos.length - validas.length
  const resultados = elementos.map((elemento, indice) => {
    if ('datos' in elemento) return resultado(indice, elemento.datos.external_ref, verdictos.shift()!, idSolicitud)
    // Every entry tells at least one fault; what the batch's allowance leaves over goes to the first.
    defectuosas--
    const contadas = elemento.fallas.slice(0, Math.min(MAXIMO_DE_FALLAS, Math.max(1, cupo - defectuosas)))
    cupo -= contadas.length
    const problema = problemaDeFallas('validacion', contadas, elemento.fallas.length - contadas.length)
    return fallido(indice, referencia(body.guias[indice]), problema, idSolicitud)
  })
  const fallidas = resultados.filter(({ ok }) => !ok).length
  return { status: 200, body: { ok: fallidas === 0, creadas: resultados.length - fallidas, fallidas, resultados } }
}

function leerElemento(
  elemento: unknown,
  porOmision: Recogida | undefined,
  validar: (valor: unknown) => Falla[],
): Elemento {
  const esObjeto = typeof elemento === 'object' && elemento !== null && !Array.isArray(elemento)
  const resuelto =
    esObjeto && porOmision && !('recogida' in elemento) ? { ...elemento, recogida: porOmision } : elemento
  const fallas = validar(resuelto)
  return fallas.length > 0 ? { fallas } : { datos: normalizar(resuelto as GuiaIndividual) }
}

function resultado(
  indice: number,
  external_ref: string | null,
  verdicto: Verdicto,
  idSolicitud: string,
): ResultadoCreado | ResultadoFallido {
  if ('problema' in verdicto) return fallido(indice, external_ref, verdicto.problema, idSolicitud)
  const { fila, repetida } = verdicto
  return { indice, ok: true, guia: fila.guia, estado: fila.estado, external_ref, repetida, avisos: fila.avisos }
}

const fallido = (
  indice: number,
  external_ref: string | null,
  problema: Problema,
  idSolicitud: string,
): ResultadoFallido => ({
  indice,
  ok: false,
  external_ref,
  error: problema.presentar(idSolicitud),
})

/** The reference as sent, if it can be shown: it helps the merchant to match the entry even when it is the fault. */
function referencia(elemento: unknown): string | null {
  const ref = (elemento as { external_ref?: unknown } | null)?.external_ref
  return typeof ref === 'string' && [...ref].length <= 128 ? ref : null
}
