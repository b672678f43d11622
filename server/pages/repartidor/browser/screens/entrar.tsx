import { useState } from 'preact/hooks'
import { pedirSesion, SinRed } from '../api.ts'
import { aSolas, enviarAhora } from '../cola.ts'
import { ir } from '../hooks.ts'
import { entrar } from '../store/limpieza.ts'
import { Titulo } from './piezas.tsx'

/**
 * Screen where a courier signs in.
 * @param otraVez name of the courier whose session expired, and whose actions are still on the phone; null for any
 *   other sign-in
 * @param pendientes number of unsent actions on the phone
 */
export function Entrar({ otraVez, pendientes }: { otraVez: string | null; pendientes: number }) {
  const [falla, fallar] = useState('')
  const [ocupado, ocupar] = useState(false)
  const enviar = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const codigo = String(new FormData(evento.target as HTMLFormElement).get('codigo')).trim()
    if (!codigo) return fallar('Escriba el código que le dio la central.')
    if (ocupado) return
    ocupar(true)
    fallar((await abrir(codigo)) ?? '')
    ocupar(false)
  }
  return (
    <form onSubmit={enviar} noValidate>
      <Titulo>{otraVez ? 'Entre otra vez' : 'Reparto'}</Titulo>
      {otraVez && <p>Su sesión venció, {otraVez}. No se perdió nada: lo que hizo se envía en cuanto entre.</p>}
      {!otraVez && pendientes > 0 && (
        <p class="nota">
          Este teléfono guarda {pendientes === 1 ? 'una acción' : `${pendientes} acciones`} sin enviar. Se envían cuando
          entre quien las hizo.
        </p>
      )}
      <label for="codigo">Su código de repartidor</label>
      <input
        id="codigo"
        name="codigo"
        type="text"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        maxLength={100}
        aria-describedby="falla-codigo"
        aria-invalid={falla !== ''}
      />
      <p id="falla-codigo" class="falla" role="alert">
        {falla}
      </p>
      <button type="submit" class="principal" aria-disabled={ocupado || undefined}>
        {ocupado ? 'Entrando…' : 'Entrar'}
      </button>
    </form>
  )
}

async function abrir(codigo: string): Promise<string | undefined> {
  try {
    const { status, problema, esperar } = await aSolas(async () => {
      const respuesta = await pedirSesion(codigo)
      // The session is stored before any sending may start: a session and its courier change together.
      if (respuesta.status === 201) await entrar(respuesta.cuerpo)
      return respuesta
    })
    if (status === 201) {
      navigator.storage?.persist?.().catch(() => {})
      enviarAhora()
      if (location.hash.startsWith('#/entrar')) ir('', true)
      return undefined
    }
    if (status === 401) return 'Ese código no es válido. Revíselo, o pida uno nuevo a la central.'
    if (status === 429) return `Demasiados intentos. Espere ${minutos(esperar)} y vuelva a probar.`
    return problema.mensaje ?? 'El servicio no responde bien. Pruebe otra vez en un minuto.'
  } catch (error) {
    if (error instanceof SinRed) return 'Para entrar hace falta cobertura. Búsquela y pruebe otra vez.'
    throw error
  }
}

const minutos = (ms: number | null) => {
  const cuantos = Math.max(1, Math.ceil((ms ?? 60_000) / 60_000))
  return cuantos === 1 ? 'un minuto' : `${cuantos} minutos`
}
