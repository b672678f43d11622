// Script of `/entrar`, `/cuenta` and `/cuenta/presencia`, for passkeys. Without it, a person signs in with a code by
// mail.
import type {
  PasskeyParaAgregar,
  PasskeyParaEntrar,
  Problema,
  RegistroDePasskey,
  RetoDePasskey,
} from '../../../generated/contract/types/index.ts'

/**
 * Time in milliseconds in which other processes may still have the session's data from before a proof of presence in
 * their cache.
 */
const SESION_CACHE_MS = 1_000

const box = document.getElementById('passkey')
if (box && window.PublicKeyCredential && location.hostname === box.dataset.dominio) start(box)

function start(section: HTMLElement) {
  const { raiz: root = '', hace: purpose, volver: returnTo = '' } = section.dataset
  const button = section.querySelector('button')!
  const estado = section.querySelector('p')!
  const request = (path: string, body?: unknown) => sendRequest(`${root}operaciones/v1/sesion/passkeys${path}`, body)
  section.hidden = false
  button.addEventListener('click', async () => {
    button.disabled = true
    estado.textContent = 'Siga en su aparato…'
    try {
      if (purpose === 'entrar') await request('/entrada', await requestAssertion(request))
      else if (purpose === 'probar') await request('/presencia', await requestAssertion(request))
      else await addPasskey(request)
      const firstForm = document.querySelector<HTMLFormElement>('#primeros form')
      if (firstForm) firstForm.submit()
      else location.assign(returnTo)
    } catch (error) {
      if (codeOf(error) === 'presencia_requerida') return location.assign(`${root}cuenta/presencia`)
      estado.textContent = sentenceOf(error)
      button.disabled = false
    }
  })
}

type PasskeyRequest = (path: string, body?: unknown) => Promise<unknown>

/** Problem with which the service answered. */
class RefusalError extends Error {
  readonly codigo: string
  constructor(code: string) {
    super(code)
    this.codigo = code
  }
}

async function sendRequest(path: string, content?: unknown): Promise<unknown> {
  const response = await fetch(path, {
    method: 'POST',
    ...(content !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(content) }),
  })
  const body: unknown = await response.json()
  if (response.ok) return body
  throw new RefusalError((body as Problema).codigo)
}

/** Asks an authenticator for a signature with any passkey that it has for this domain. */
async function requestAssertion(request: PasskeyRequest): Promise<PasskeyParaEntrar> {
  const { reto, dominio } = (await request('/reto')) as RetoDePasskey
  const publicKey = { challenge: bytesOf(reto), rpId: dominio, userVerification: 'required' } as const
  const { rawId, response } = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
  const { clientDataJSON, authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse
  return {
    credencial: toBase64url(rawId),
    datos_cliente: toBase64url(clientDataJSON),
    datos_autenticador: toBase64url(authenticatorData),
    firma: toBase64url(signature),
    usuario: toBase64url(userHandle!),
  }
}

/**
 * Starts to add a passkey. A person without a recent proof of presence first gives one with another passkey. Without a
 * passkey, waits before the second attempt, because another process may not know a proof by code of a moment ago yet.
 */
async function requestRegistration(request: PasskeyRequest): Promise<RegistroDePasskey> {
  try {
    return (await request('/registro')) as RegistroDePasskey
  } catch (error) {
    if (codeOf(error) !== 'presencia_requerida') throw error
    if (document.querySelector('[name=accion][value=quitar]'))
      await request('/presencia', await requestAssertion(request))
    await new Promise((listo) => setTimeout(listo, SESION_CACHE_MS))
    return (await request('/registro')) as RegistroDePasskey
  }
}

async function addPasskey(request: PasskeyRequest): Promise<void> {
  const { reto, dominio, usuario, nombre, correo, existentes } = await requestRegistration(request)
  const publicKey: PublicKeyCredentialCreationOptions = {
    challenge: bytesOf(reto),
    rp: { id: dominio, name: dominio },
    user: { id: bytesOf(usuario), name: correo, displayName: nombre },
    // Algorithms EdDSA, ES256 and RS256, by their numbers in the COSE registry.
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: existentes.map((id) => ({ type: 'public-key', id: bytesOf(id) })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  }
  const { rawId, response } = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse
  const body: PasskeyParaAgregar = {
    credencial: toBase64url(rawId),
    datos_cliente: toBase64url(clientDataJSON),
    atestacion: toBase64url(attestationObject),
  }
  await request('', body)
}

const SENTENCES: Readonly<Record<string, string>> = {
  passkey_incorrecta: 'Esa passkey no vale aquí. Entre con un código.',
  passkey_no_admitida: 'Ya tiene 10 passkeys. Quite una antes de agregar otra.',
  segundo_factor_requerido: 'Esta sesión se abrió sin su segundo factor. Salga y entre otra vez con él.',
  sesion_invalida: 'La sesión se cerró. Entre otra vez.',
  demasiadas_solicitudes: 'Demasiados intentos. Espere un minuto y repita.',
  NotAllowedError: 'No se completó. Inténtelo otra vez, o entre con un código.',
  InvalidStateError: 'Este aparato ya tiene una passkey de su cuenta.',
}
const codeOf = (error: unknown) => (error instanceof RefusalError ? error.codigo : (error as Error).name)
const sentenceOf = (error: unknown) =>
  SENTENCES[codeOf(error)] ?? 'No se pudo. Revise su conexión e inténtelo otra vez.'

const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (character) => character.charCodeAt(0))
const toBase64url = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')
