import { useState } from 'preact/hooks'
import { NoResponseError, requestSignIn } from '../api.ts'
import { goTo } from '../hooks.ts'
import { runExclusively, sendNow } from '../queue.ts'
import { signIn } from '../store/cleanup.ts'
import { CallCentral, ScreenTitle } from './pieces.tsx'

/**
 * Screen where a courier signs in.
 * @param returningName name of the courier whose session expired, and whose actions are still on the phone; null for any
 *   other sign-in
 * @param pendientes number of unsent actions on the phone
 */
export function SignIn({ returningName, pendientes }: { returningName: string | null; pendientes: number }) {
  const [fault, setFailure] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const submit = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const code = String(new FormData(evento.target as HTMLFormElement).get('codigo')).trim()
    if (!code) return setFailure('Escriba el código que le dio la central.')
    if (isBusy) return
    setIsBusy(true)
    setFailure((await openSesion(code)) ?? '')
    setIsBusy(false)
  }
  return (
    <form onSubmit={submit} noValidate>
      <ScreenTitle>{returningName ? 'Entre otra vez' : 'Reparto'}</ScreenTitle>
      {returningName && (
        <p>Su sesión venció, {returningName}. No se perdió nada: lo que hizo se envía en cuanto entre.</p>
      )}
      {!returningName && pendientes > 0 && (
        <p class="nota">
          Este teléfono guarda {pendientes === 1 ? 'una acción' : `${pendientes} acciones`} sin enviar. Se envían cuando
          entre quien las hizo.
        </p>
      )}
      <label for="codigo">Su código de repartidor</label>
      <p id="ayuda-codigo" class="suave">
        Se lo da la central, una sola vez. <CallCentral>Pídalo</CallCentral>
      </p>
      <input
        id="codigo"
        name="codigo"
        type="text"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        maxLength={100}
        aria-describedby="falla-codigo ayuda-codigo"
        aria-invalid={fault !== ''}
      />
      <p id="falla-codigo" class="falla" role="alert">
        {fault}
      </p>
      <button type="submit" class="principal" aria-disabled={isBusy || undefined}>
        {isBusy ? 'Entrando…' : 'Entrar'}
      </button>
    </form>
  )
}

async function openSesion(code: string): Promise<string | undefined> {
  try {
    const { status, problema, waitSeconds } = await runExclusively(async () => {
      const response = await requestSignIn(code)
      // The session is stored before any sending may start: a session and its courier change together.
      if (response.status === 201) await signIn(response.body)
      return response
    })
    if (status === 201) {
      navigator.storage?.persist?.().catch(() => {})
      sendNow()
      if (location.hash.startsWith('#/entrar')) goTo('', true)
      return undefined
    }
    if (status === 401) return 'Ese código no es válido. Revíselo, o pida uno nuevo a la central.'
    if (status === 429) return `Demasiados intentos. Espere ${minutesText(waitSeconds)} y vuelva a probar.`
    return problema.mensaje ?? 'El servicio no responde bien. Pruebe otra vez en un minuto.'
  } catch (error) {
    if (error instanceof NoResponseError) return 'Para entrar hace falta cobertura. Búsquela y pruebe otra vez.'
    throw error
  }
}

const minutesText = (ms: number | null) => {
  const count = Math.max(1, Math.ceil((ms ?? 60_000) / 60_000))
  return count === 1 ? 'un minuto' : `${count} minutos`
}
