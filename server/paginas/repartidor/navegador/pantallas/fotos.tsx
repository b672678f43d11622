import { useEffect, useState } from 'preact/hooks'
import type { Imagen } from '../almacen/base.ts'
import { conFalla, Falla } from '../fallas.tsx'
import { achicarFoto, FotoIlegible } from '../fotos.ts'
import { horaDeFoto } from '../hora.ts'

const MAXIMO = 10

/** A photo on the screen, and where its picture comes from. */
export interface FotoTomada {
  id: string
  leer: () => Promise<Blob | undefined>
}

interface Tomar {
  guia: string
  /** Says how many photos there are by now. */
  cuantas: () => number
  /** Keeps a photo. */
  agregar: (foto: Imagen) => Promise<void> | void
  /** Says why there is no photo; undefined takes back what was said. */
  fallar: (causa: unknown) => void
}

/** Takes photos and makes them small, one after another; `preparando` counts those that aren't there yet. */
export function useFotos({ guia, cuantas, agregar, fallar }: Tomar) {
  const [preparando, preparar] = useState(0)
  const tomar = async (entrada: HTMLInputElement) => {
    const archivos = [...(entrada.files ?? [])]
    entrada.value = ''
    fallar(undefined)
    preparar((n) => n + archivos.length)
    for (const archivo of archivos) {
      try {
        const [blob, capturado_en] = [await achicarFoto(archivo), await horaDeFoto(archivo)]
        if (cuantas() < MAXIMO) await agregar({ id: crypto.randomUUID(), guia, blob, capturado_en })
      } catch (causa) {
        fallar(causa)
      }
      preparar((n) => n - 1)
    }
  }
  return { preparando, tomar }
}

export const explicarFoto = (causa: unknown) => (causa instanceof FotoIlegible ? causa.message : undefined)

export function Fotos(props: {
  de: string
  fotos: readonly FotoTomada[]
  preparando: number
  tomar: (entrada: HTMLInputElement) => void
  quitar: (id: string) => void
  falla?: string | undefined
}) {
  const { de, fotos, preparando, tomar, quitar, falla } = props
  return (
    <fieldset>
      <legend>
        Fotos <small>({de})</small>
      </legend>
      <ul class="fotos">
        {fotos.map(({ id, leer }, i) => (
          <Foto key={id} leer={leer} numero={i + 1} alQuitar={() => quitar(id)} />
        ))}
      </ul>
      {fotos.length < MAXIMO && (
        <label class="boton">
          <input
            class="oculta"
            type="file"
            accept="image/*"
            capture="environment"
            {...conFalla('fotos', falla)}
            onChange={({ currentTarget }) => tomar(currentTarget)}
          />
          {fotos.length === 0 ? 'Tomar foto' : 'Otra foto'}
        </label>
      )}
      <Falla de="fotos">{falla}</Falla>
      <p class="suave" role="status">
        {preparando > 0 && 'Preparando la foto…'}
      </p>
    </fieldset>
  )
}

function Foto({ leer, numero, alQuitar }: { leer: FotoTomada['leer']; numero: number; alQuitar: () => void }) {
  const [direccion, poner] = useState<string>()
  useEffect(() => {
    let url: string | undefined
    let vivo = true
    leer().then((blob) => {
      if (!blob || !vivo) return
      url = URL.createObjectURL(blob)
      poner(url)
    })
    return () => {
      vivo = false
      if (url) URL.revokeObjectURL(url)
    }
  }, [])
  return (
    <li>
      {direccion && <img src={direccion} alt={`Foto ${numero}`} />}
      <button type="button" onClick={alQuitar} aria-label={`Quitar la foto ${numero}`}>
        Quitar
      </button>
    </li>
  )
}
