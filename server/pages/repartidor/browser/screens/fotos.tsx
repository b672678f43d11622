import { useEffect, useState } from 'preact/hooks'
import { AvisoDeFalla, conFalla } from '../fallas.tsx'
import { achicarFoto, FotoIlegible } from '../fotos.ts'
import { horaDeFoto } from '../hora.ts'
import type { ImagenGuardada } from '../store/base.ts'

const MAXIMO = 10

/** Photo on the screen; `leer` returns its image. */
export interface FotoTomada {
  id: string
  leer: () => Promise<Blob | undefined>
}

interface Tomar {
  guia: string
  /** Returns the current number of photos. */
  cuantas: () => number
  /** Stores a photo. */
  agregar: (foto: ImagenGuardada) => Promise<void> | void
  /** Shows why there is no photo; undefined clears the message. */
  fallar: (causa: unknown) => void
}

/**
 * Takes photos and reduces their size, one after another. `preparando` is the number of photos that are not ready yet.
 */
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

/** Returns the message for the courier about a photo that cannot be used; undefined for any other error. */
export const explicarFoto = (causa: unknown) => (causa instanceof FotoIlegible ? causa.message : undefined)

/** Field for up to 10 photos. */
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
            class="oculto"
            type="file"
            accept="image/*"
            capture="environment"
            {...conFalla('fotos', falla)}
            onChange={({ currentTarget }) => tomar(currentTarget)}
          />
          {fotos.length === 0 ? 'Tomar foto' : 'Otra foto'}
        </label>
      )}
      <AvisoDeFalla de="fotos">{falla}</AvisoDeFalla>
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
