import type { GuiaIndividual, Recogida, ResultadoCreado, ResultadoFallido } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { MAXIMO_DE_FALLAS, MAXIMO_DE_FALLAS_DEL_LOTE, type Problema, problemaDeFallas } from '../errores.ts'
import { presentarAdvertencias } from './advertencias.ts'
import type { FilaGuia } from './guia.ts'
import { normalizar } from './normalizar.ts'

/** Always 200 for a well-formed envelope: every element has its own verdict at its `indice`. */
export const crearLote: Handler<'crearLote'> = async (
  { body, identidad, idSolicitud },
  { escritura, validacion, urlPublica },
) => {
  const { vale, explicar } = validacion.validador('GuiaIndividual')
  // The contract's item schema was loosened for the envelope: from here on an element may be anything.
  const elementos = (body.guias as readonly unknown[]).map((elemento) => conRecogida(elemento, body.recogida))
  const datos = elementos.map((elemento) => (vale(elemento) ? normalizar(elemento as GuiaIndividual) : undefined))
  const validas = datos.filter((unos) => unos !== undefined)
  const veredictos = await escritura.crearVarias(identidad.comercioId, identidad.modo, validas)
  const fallida = (indice: number, external_ref: string | null, problema: Problema): ResultadoFallido => ({
    indice,
    ok: false,
    external_ref,
    error: problema.presentar(idSolicitud, urlPublica),
  })

  let cupo = MAXIMO_DE_FALLAS_DEL_LOTE
  let defectuosas = elementos.length - validas.length
  const resultados = datos.map((unos, indice) => {
    if (unos) {
      const veredicto = veredictos.shift()!
      if ('problema' in veredicto) return fallida(indice, unos.external_ref, veredicto.problema)
      return creada(indice, veredicto.fila, veredicto.repetida)
    }
    // Every entry tells at least one fault; what the batch's allowance leaves over goes to the first.
    defectuosas--
    const maximo = Math.min(MAXIMO_DE_FALLAS, Math.max(1, cupo - defectuosas))
    const { dichas, omitidas } = explicar(elementos[indice], maximo)
    cupo -= dichas.length
    return fallida(indice, referencia(body.guias[indice]), problemaDeFallas('validacion', dichas, omitidas))
  })
  const fallidas = resultados.filter(({ ok }) => !ok).length
  return {
    status: 200,
    body: { ok: fallidas === 0, creadas: resultados.length - fallidas, fallidas, resultados, advertencias: [] },
  }
}

/** The element with the pickup that it resolves to: its own, or else the batch's. */
function conRecogida(elemento: unknown, recogida: Recogida | undefined): unknown {
  const esObjeto = typeof elemento === 'object' && elemento !== null && !Array.isArray(elemento)
  return esObjeto && recogida && !('recogida' in elemento) ? { ...elemento, recogida } : elemento
}

const creada = (indice: number, fila: FilaGuia, repetida: boolean): ResultadoCreado => ({
  indice,
  ok: true,
  guia: fila.guia,
  estado: fila.estado,
  external_ref: fila.external_ref,
  repetida,
  advertencias: presentarAdvertencias(fila),
})

/** The reference as sent, if it can be shown: it helps the merchant to match the entry even when it is the fault. */
function referencia(elemento: unknown): string | null {
  const ref = (elemento as { external_ref?: unknown } | null)?.external_ref
  return typeof ref === 'string' && [...ref].length <= 128 ? ref : null
}
