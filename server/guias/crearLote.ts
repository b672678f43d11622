import type { Falla, GuiaIndividual, ResultadoCreado, ResultadoFallido } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { MAXIMO_DE_FALLAS, MAXIMO_DE_FALLAS_DEL_LOTE, type Problema, problemaDeFallas } from '../errores.ts'
import { presentarAdvertencias } from './advertencias.ts'
import { normalizar } from './datos.ts'
import type { FilaGuia } from './guia.ts'

/**
 * Creates a batch: 200 for whatever can be read as a list of 1 to 100 entries, each with its own verdict at its
 * `indice`.
 */
export const crearLote: Handler<'crearLote'> = async (
  { body, identidad, idSolicitud },
  { escritura, validacion, ajustes: { urlPublica } },
) => {
  const { vale, explicar } = validacion.validador('GuiaIndividual')
  // Only the envelope was validated (`x-sobre`): an entry may be anything, and so may the batch's pickup.
  const enviadas: readonly unknown[] = body.guias
  const elementos = enviadas.map((elemento) => (sinRecogida(elemento) ? conLaDelLote(elemento, body) : elemento))
  const datos = elementos.map((elemento) =>
    vale(elemento, identidad) ? normalizar(elemento as GuiaIndividual, identidad) : undefined,
  )
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
    const { dichas, omitidas } = explicar(elementos[indice], maximo, identidad)
    cupo -= dichas.length
    const suyas = hayRecogida(body) && sinRecogida(enviadas[indice]) ? dichas.map(atribuirAlLote) : dichas
    return fallida(indice, referencia(enviadas[indice]), problemaDeFallas('validacion', suyas, omitidas))
  })
  const advertencias = validacion.advertirDesconocidos('LoteParaCrear', body)
  return { status: 200, body: { ...contar(resultados), resultados, advertencias } }
}

function contar(resultados: readonly (ResultadoCreado | ResultadoFallido)[]) {
  const fallidas = resultados.filter(({ ok }) => !ok).length
  const repetidas = resultados.filter((resultado) => resultado.ok && resultado.repetida).length
  return { ok: fallidas === 0, creadas: resultados.length - repetidas - fallidas, repetidas, fallidas }
}

const hayRecogida = ({ recogida }: { recogida?: unknown }) => recogida !== undefined && recogida !== null

/** Whether an entry is a guide whose pickup is the batch's: it brings none, or null. */
const sinRecogida = (elemento: unknown): elemento is object =>
  typeof elemento === 'object' && elemento !== null && !Array.isArray(elemento) && !hayRecogida(elemento)

/** An entry with the batch's pickup, if that has one; what is undefined isn't there. */
const conLaDelLote = (elemento: object, lote: { recogida?: unknown }) => ({
  ...elemento,
  recogida: hayRecogida(lote) ? lote.recogida : undefined,
})

/** A fault of the batch's pickup says whose it is; its `campo` is the same in the entry and in the batch. */
const atribuirAlLote = (falla: Falla): Falla =>
  /^\/recogida(\/|$)/.test(falla.campo) ? { ...falla, mensaje: `en la recogida del lote, ${falla.mensaje}` } : falla

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
