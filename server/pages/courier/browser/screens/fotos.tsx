import { useEffect, useState } from 'preact/hooks'
import { Camera } from '../../../../generated/contract/icons.ts'
import { FaultNotice, withFault } from '../faults.tsx'
import { shrinkFoto, UnreadableFoto } from '../fotos.ts'
import type { StoredImage } from '../store/base.ts'
import { fotoTime } from '../time.ts'
import { Icon } from './pieces.tsx'

const MAX_FOTOS = 10

/** Photo on the screen; `readFile` returns its image. */
export interface TakenFoto {
  id: string
  readFile: () => Promise<Blob | undefined>
}

interface TakeFotosOptions {
  guia: string
  /** Returns the current number of photos. */
  countFotos: () => number
  addFoto: (foto: StoredImage) => Promise<void> | void
  /** Shows why there is no photo; undefined clears the message. */
  fail: (cause: unknown) => void
}

/**
 * Takes photos and reduces their size, one after another. `preparing` is the number of photos that are not ready yet.
 */
export function useFotos({ guia, countFotos, addFoto, fail }: TakeFotosOptions) {
  const [preparing, setPreparing] = useState(0)
  const takeFotos = async (input: HTMLInputElement) => {
    const archivos = [...(input.files ?? [])]
    input.value = ''
    fail(undefined)
    setPreparing((n) => n + archivos.length)
    for (const archivo of archivos) {
      try {
        const [blob, capturado_en] = [await shrinkFoto(archivo), await fotoTime(archivo)]
        if (countFotos() < MAX_FOTOS) await addFoto({ id: crypto.randomUUID(), guia, blob, capturado_en })
      } catch (cause) {
        fail(cause)
      }
      setPreparing((n) => n - 1)
    }
  }
  return { preparing, takeFotos }
}

/** Returns the message for the courier about a photo that cannot be used; undefined for any other error. */
export const explainFoto = (cause: unknown) => (cause instanceof UnreadableFoto ? cause.message : undefined)

/** Photos that were taken, and the fault of their field. */
export function Fotos(props: {
  fotos: readonly TakenFoto[]
  preparing: number
  removeFoto: (id: string) => void
  fault?: string | undefined
}) {
  const { fotos, preparing, removeFoto, fault } = props
  return (
    <>
      <ul class="fotos">
        {fotos.map(({ id, readFile }, i) => (
          <Foto key={id} readFile={readFile} numero={i + 1} onRemove={() => removeFoto(id)} />
        ))}
      </ul>
      <FaultNotice de="fotos">{fault}</FaultNotice>
      <p class="suave" role="status">
        {preparing > 0 && 'Preparando la foto…'}
      </p>
    </>
  )
}

/** Button that opens the camera, until there are 10 photos. */
export function TakeFoto(props: {
  count: number
  isMain?: boolean
  fallas: { fotos?: string | undefined }
  takeFotos: (input: HTMLInputElement) => void
}) {
  const { count, isMain, fallas, takeFotos } = props
  if (count >= MAX_FOTOS) return null
  return (
    <label class={isMain ? 'boton principal' : 'boton'}>
      <input
        class="oculto"
        type="file"
        accept="image/*"
        capture="environment"
        {...withFault('fotos', fallas.fotos)}
        onChange={({ currentTarget }) => takeFotos(currentTarget)}
      />
      <Icon drawing={Camera} />
      {count === 0 ? 'Tomar foto' : 'Otra foto'}
    </label>
  )
}

function Foto({
  readFile,
  numero,
  onRemove,
}: {
  readFile: TakenFoto['readFile']
  numero: number
  onRemove: () => void
}) {
  const [direccion, setImageUrl] = useState<string>()
  useEffect(() => {
    let url: string | undefined
    let isMounted = true
    readFile().then((blob) => {
      if (!blob || !isMounted) return
      url = URL.createObjectURL(blob)
      setImageUrl(url)
    })
    return () => {
      isMounted = false
      if (url) URL.revokeObjectURL(url)
    }
  }, [])
  return (
    <li>
      {direccion && <img src={direccion} alt={`Foto ${numero}`} />}
      <button type="button" onClick={onRemove} aria-label={`Quitar la foto ${numero}`}>
        Quitar
      </button>
    </li>
  )
}
