import { useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { HECHOS } from '../dominio.ts'
import { AvisoDeFalla } from '../fallas.tsx'
import { ir } from '../hooks.ts'
import type { FilaDeReparto } from '../lista.ts'
import { DE_LOTE, hacerLote, type PasoDeLote, puede, ultimoLote } from '../lote.ts'
import { type Sesion, sinEspacio } from '../store/base.ts'
import { SIN_ESPACIO } from './paso.tsx'
import { Titulo } from './piezas.tsx'

const DICHOS: Record<PasoDeLote, (n: number) => string> = {
  recolectado: (n) => `Recoger ${n}`,
  en_ruta: (n) => `Salir a ruta con ${n}`,
  en_bodega: (n) => `Dejar ${n} en bodega`,
}

/**
 * Bar with the steps for the guides that were selected or scanned. It offers the two steps that most of the guides can
 * take.
 */
export function Lote({ sesion, filas, dice }: { sesion: Sesion; filas: readonly FilaDeReparto[]; dice: string }) {
  const [ocupado, ocupar] = useState(false)
  const [falla, fallar] = useState('')
  const ofertas = DE_LOTE.map((estado) => ({ estado, n: filas.filter((fila) => puede(fila, estado)).length }))
    .filter(({ n }) => n > 0)
    .sort((una, otra) => otra.n - una.n)
  const hacer = async (estado: PasoDeLote) => {
    if (ocupado) return
    ocupar(true)
    try {
      await hacerLote(
        sesion,
        filas.map(({ guia }) => guia),
        estado,
      )
      ir('hecho')
    } catch (error) {
      ocupar(false)
      fallar(sinEspacio(error) ? SIN_ESPACIO : 'No se pudo guardar en el teléfono. Pruebe otra vez.')
    }
  }
  return (
    <div class="barra pegada">
      <p role="status">{dice}</p>
      <AvisoDeFalla de="lote">{falla}</AvisoDeFalla>
      {ofertas.slice(0, 2).map(({ estado, n }, i) => (
        <button
          key={estado}
          type="button"
          class={i === 0 ? 'principal' : ''}
          aria-disabled={ocupado || undefined}
          onClick={() => hacer(estado)}
        >
          {DICHOS[estado](n)}
        </button>
      ))}
    </div>
  )
}

/** Screen after a step for many guides. After a reload of the page it returns to the home screen. */
export function LoteHecho() {
  if (!ultimoLote) {
    ir('', true)
    return null
  }
  const { estado, hechas, quedan } = ultimoLote
  return (
    <>
      <p class="palomita" aria-hidden="true">
        ✓
      </p>
      <Titulo>
        {HECHOS[estado]}: {hechas === 1 ? '1 guía' : `${hechas} guías`}
      </Titulo>
      <p class="suave">Están guardadas en el teléfono, cada una con su hora, y se envían solas.</p>
      {quedan.length > 0 && (
        <section aria-labelledby="quedan">
          <h2 id="quedan">No se pudo con {quedan.length}</h2>
          <ul class="lista">
            {quedan.map((guia) => (
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
