import { useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { FaultNotice } from '../faults.tsx'
import { goTo } from '../hooks.ts'
import type { DispatchRow } from '../list.ts'
import { canEnter, LOTE_ESTADOS, type LoteStep, lastLote, reportLote } from '../lote.ts'
import { isOutOfSpace, type Sesion } from '../store/base.ts'
import { ESTADO_NAMES } from '../vocabulary.ts'
import { ScreenTitle } from './pieces.tsx'
import { NO_SPACE } from './step.tsx'

const LOTE_LABELS: Record<LoteStep, (n: number) => string> = {
  recolectado: (n) => `Recoger ${n}`,
  en_ruta: (n) => `Salir a ruta con ${n}`,
  en_bodega: (n) => `Dejar ${n} en bodega`,
}

/**
 * Bar with the steps for the guides that were selected or scanned. It offers the two steps that most of the guides can
 * take.
 */
export function Lote({ sesion, rows, dice }: { sesion: Sesion; rows: readonly DispatchRow[]; dice: string }) {
  const [isBusy, setIsBusy] = useState(false)
  const [fault, setFailure] = useState('')
  const offers = LOTE_ESTADOS.map((estado) => ({ estado, n: rows.filter((row) => canEnter(row, estado)).length }))
    .filter(({ n }) => n > 0)
    .sort((offer, otherOffer) => otherOffer.n - offer.n)
  const perform = async (estado: LoteStep) => {
    if (isBusy) return
    setIsBusy(true)
    try {
      await reportLote(
        sesion,
        rows.map(({ guia }) => guia),
        estado,
      )
      goTo('hecho')
    } catch (error) {
      setIsBusy(false)
      setFailure(isOutOfSpace(error) ? NO_SPACE : 'No se pudo guardar en el teléfono. Pruebe otra vez.')
    }
  }
  return (
    <div class="barra pegada">
      <p role="status">{dice}</p>
      <FaultNotice de="lote">{fault}</FaultNotice>
      {offers.slice(0, 2).map(({ estado, n }, i) => (
        <button
          key={estado}
          type="button"
          class={i === 0 ? 'principal' : ''}
          aria-disabled={isBusy || undefined}
          onClick={() => perform(estado)}
        >
          {LOTE_LABELS[estado](n)}
        </button>
      ))}
    </div>
  )
}

/** Screen after a step for many guides. After a reload of the page it returns to the home screen. */
export function LoteDone() {
  if (!lastLote) {
    goTo('', true)
    return null
  }
  const { estado, doneCount, remaining } = lastLote
  return (
    <>
      <p class="palomita" aria-hidden="true">
        ✓
      </p>
      <ScreenTitle>
        {ESTADO_NAMES[estado]}: {doneCount === 1 ? '1 guía' : `${doneCount} guías`}
      </ScreenTitle>
      <p class="suave">Están guardadas en el teléfono, cada una con su hora, y se envían solas.</p>
      {remaining.length > 0 && (
        <section aria-labelledby="quedan">
          <h2 id="quedan">No se pudo con {remaining.length}</h2>
          <ul class="lista">
            {remaining.map((guia) => (
              <li key={guia} class="atencion">
                <a href={`#/guia/${guia}`}>
                  <span class="codigo">{inGroups(guia)}</span> <small>Ábrala para ver por qué</small>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <nav class="barra pegada" aria-label="Seguir">
        <a class="boton principal" href="#/">
          Ver la lista
        </a>
      </nav>
    </>
  )
}
