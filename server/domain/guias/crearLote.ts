import { setImmediate as ceder } from 'node:timers/promises'
import type { Falla, GuiaIndividual, ResultadoCreado, ResultadoFallido } from '../../generado/contrato/tipos/index.ts'
import { MAX_BATCH_FAULTS, MAX_FAULTS, type Problema, problemOfFaults } from '../../platform/errors.ts'
import { requestKey } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { advertenciasDe, type FilaGuia } from './guia.ts'
import { createOnce } from './once.ts'
import { type Candidate, createCandidates, toCandidate } from './strict.ts'

/** Faulty entries after which other requests of the process get their turn: explaining one costs up to half a millisecond. */
const POR_TURNO = 8

/**
 * Creates a batch of guides. Answers 200 to any body that is a list of 1 to 100 entries. Each entry has its own result,
 * identified by `indice`.
 */
export const crearLote: Handler<'crearLote'> = async (entrada, deps) => {
  const { body, identidad, idSolicitud } = entrada
  const { escritura, validacion, ajustes } = deps
  const { admit, explicar } = validacion.validador('GuiaIndividual')
  // Only the envelope was validated (`x-sobre`). An entry, or the batch's pickup, may still be any JSON value.
  const enviadas: readonly unknown[] = body.guias
  const elementos = enviadas.map((elemento) => completar(elemento, body))
  const candidatas = elementos.map((elemento) => {
    const admitted = admit(elemento, identidad)
    return admitted && toCandidate(admitted.value as GuiaIndividual, identidad, admitted.nulls)
  })
  // Only entries without a reference need the key.
  const keyed = enviadas.map((one) => typeof (one as { external_ref?: unknown } | null)?.external_ref !== 'string')
  const key = keyed.includes(true) ? requestKey(deps, 'crearLote', entrada) : undefined
  const once = key
    ? await createOnce(
        deps,
        identidad,
        key,
        candidatas.map((una, i) => (keyed[i] ? una : undefined)),
      )
    : undefined
  const demas = candidatas.filter((una, i): una is Candidate => una !== undefined && !(once && keyed[i]))
  const escritas = await createCandidates(escritura, identidad, demas)
  const fallida = (indice: number, external_ref: string | null, problema: Problema): ResultadoFallido => ({
    indice,
    ok: false,
    external_ref,
    error: problema.presentar(idSolicitud, ajustes.urlPublica),
  })

  let cupo = MAX_BATCH_FAULTS
  let defectuosas = candidatas.filter((una, i) => !una && !once?.veredictos[i]).length
  const explicada = (indice: number): ResultadoFallido => {
    // One fault is reserved for each remaining invalid entry. Earlier entries use what is left of the batch's limit.
    defectuosas--
    const maximo = Math.min(MAX_FAULTS, Math.max(1, cupo - defectuosas))
    const { dichas, omitidas } = explicar(elementos[indice], maximo, identidad)
    cupo -= dichas.length
    const suyas = dichas.map((falla) => atribuir(falla, enviadas[indice], body))
    return fallida(indice, referencia(enviadas[indice]), problemOfFaults('validacion', suyas, omitidas))
  }
  const resultados: (ResultadoCreado | ResultadoFallido)[] = []
  for (const [indice, una] of candidatas.entries()) {
    const veredicto = once && keyed[indice] ? once.veredictos[indice] : una && escritas.shift()
    if (!veredicto) {
      resultados.push(explicada(indice))
      if (defectuosas % POR_TURNO === 0) await ceder()
      continue
    }
    resultados.push(
      'problema' in veredicto
        ? fallida(indice, una?.datos.external_ref ?? null, veredicto.problema)
        : creada(indice, veredicto.fila, veredicto.repetida),
    )
  }
  const advertencias = validacion.advertirDesconocidos('LoteParaCrear', body)
  const headers = once?.repetida ? ({ 'Idempotent-Replayed': 'true' } as const) : {}
  return { status: 200, headers, body: { ...contar(resultados), resultados, advertencias } }
}

function contar(resultados: readonly (ResultadoCreado | ResultadoFallido)[]) {
  const fallidas = resultados.filter(({ ok }) => !ok).length
  const repetidas = resultados.filter((resultado) => resultado.ok && resultado.repetida).length
  return { ok: fallidas === 0, creadas: resultados.length - repetidas - fallidas, repetidas, fallidas }
}

/** Values of a batch that apply to entries without their own. Null counts as absent. */
interface PorOmision {
  recogida?: unknown
  estricto?: unknown
}

const esGuia = (elemento: unknown): elemento is PorOmision =>
  typeof elemento === 'object' && elemento !== null && !Array.isArray(elemento)

/**
 * Returns an entry with the batch's `recogida` and `estricto` where the entry has none. A member that is undefined
 * counts as absent.
 */
function completar(elemento: unknown, lote: PorOmision): unknown {
  if (!esGuia(elemento)) return elemento
  const recogida = elemento.recogida ?? lote.recogida ?? undefined
  const estricto = elemento.estricto ?? lote.estricto ?? undefined
  if (recogida === elemento.recogida && estricto === elemento.estricto) return elemento
  return { ...elemento, recogida, estricto }
}

const DEL_LOTE = [
  {
    ruta: /^\/recogida(\/|$)/,
    donde: 'en la recogida del lote',
    esSuya: ({ recogida }: PorOmision) => (recogida ?? null) !== null,
  },
  {
    ruta: /^\/estricto$/,
    donde: 'en el estricto del lote',
    esSuya: ({ estricto }: PorOmision) => (estricto ?? null) !== null,
  },
]

/**
 * Adds to a fault's message that the value comes from the batch, if it does. The `campo` is the same in an entry and in
 * a batch.
 */
function atribuir(falla: Falla, elemento: unknown, lote: PorOmision): Falla {
  const deQuien = DEL_LOTE.find(({ ruta }) => ruta.test(falla.campo))
  if (!deQuien || !esGuia(elemento) || deQuien.esSuya(elemento) || !deQuien.esSuya(lote)) return falla
  return { ...falla, mensaje: `${deQuien.donde}, ${falla.mensaje}` }
}

const creada = (indice: number, fila: FilaGuia, repetida: boolean): ResultadoCreado => ({
  indice,
  ok: true,
  guia: fila.guia,
  estado: fila.estado,
  external_ref: fila.external_ref,
  repetida,
  advertencias: advertenciasDe(fila),
})

/**
 * Returns the entry's `external_ref` as sent; null if it is not a string of at most 128 characters. The merchant uses
 * the reference to match the result with the entry, even when the reference is the fault.
 */
function referencia(elemento: unknown): string | null {
  const ref = (elemento as { external_ref?: unknown } | null)?.external_ref
  return typeof ref === 'string' && [...ref].length <= 128 ? ref : null
}
