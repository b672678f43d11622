// Script of `/entrar`, `/cuenta` and `/cuenta/presencia`, for passkeys. Without it, a person signs in with a code by
// mail.
import type {
  PasskeyParaAgregar,
  PasskeyParaEntrar,
  Problema,
  RegistroDePasskey,
  RetoDePasskey,
} from '../../../generado/contrato/tipos/index.ts'

/**
 * Time in milliseconds in which other processes may still have the session's data from before a proof of presence in
 * their cache.
 */
const RECUERDO = 1_000

const caja = document.getElementById('passkey')
if (caja && window.PublicKeyCredential && location.hostname === caja.dataset.dominio) iniciar(caja)

function iniciar(seccion: HTMLElement) {
  const { raiz = '', hace, volver = '' } = seccion.dataset
  const boton = seccion.querySelector('button')!
  const estado = seccion.querySelector('p')!
  const pedir = (ruta: string, cuerpo?: unknown) => enviar(`${raiz}operaciones/v1/sesion/passkeys${ruta}`, cuerpo)
  seccion.hidden = false
  boton.addEventListener('click', async () => {
    boton.disabled = true
    estado.textContent = 'Siga en su aparato…'
    try {
      if (hace === 'entrar') await pedir('/entrada', await firmar(pedir))
      else if (hace === 'probar') await pedir('/presencia', await firmar(pedir))
      else await agregar(pedir)
      const primeros = document.querySelector<HTMLFormElement>('#primeros form')
      if (primeros) primeros.submit()
      else location.assign(volver)
    } catch (error) {
      if (codigoDe(error) === 'presencia_requerida') return location.assign(`${raiz}cuenta/presencia`)
      estado.textContent = decir(error)
      boton.disabled = false
    }
  })
}

type Pedir = (ruta: string, cuerpo?: unknown) => Promise<unknown>

/** Problem with which the service answered. */
class Rechazo extends Error {
  readonly codigo: string
  constructor(codigo: string) {
    super(codigo)
    this.codigo = codigo
  }
}

async function enviar(ruta: string, cuerpo?: unknown): Promise<unknown> {
  const respuesta = await fetch(ruta, {
    method: 'POST',
    ...(cuerpo !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(cuerpo) }),
  })
  const dicho: unknown = await respuesta.json()
  if (respuesta.ok) return dicho
  throw new Rechazo((dicho as Problema).codigo)
}

/** Asks an authenticator for a signature with any passkey that it has for this domain. */
async function firmar(pedir: Pedir): Promise<PasskeyParaEntrar> {
  const { reto, dominio } = (await pedir('/reto')) as RetoDePasskey
  const publicKey = { challenge: bytesDe(reto), rpId: dominio, userVerification: 'required' } as const
  const { rawId, response } = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
  const { clientDataJSON, authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse
  return {
    credencial: textoDe(rawId),
    datos_cliente: textoDe(clientDataJSON),
    datos_autenticador: textoDe(authenticatorData),
    firma: textoDe(signature),
    usuario: textoDe(userHandle!),
  }
}

/**
 * Starts to add a passkey. A person without a recent proof of presence first gives one with another passkey. Without a
 * passkey, waits before the second attempt, because another process may not know a proof by code of a moment ago yet.
 */
async function empezar(pedir: Pedir): Promise<RegistroDePasskey> {
  try {
    return (await pedir('/registro')) as RegistroDePasskey
  } catch (error) {
    if (codigoDe(error) !== 'presencia_requerida') throw error
    if (document.querySelector('[name=accion][value=quitar]')) await pedir('/presencia', await firmar(pedir))
    await new Promise((listo) => setTimeout(listo, RECUERDO))
    return (await pedir('/registro')) as RegistroDePasskey
  }
}

async function agregar(pedir: Pedir): Promise<void> {
  const { reto, dominio, usuario, nombre, correo, existentes } = await empezar(pedir)
  const publicKey: PublicKeyCredentialCreationOptions = {
    challenge: bytesDe(reto),
    rp: { id: dominio, name: dominio },
    user: { id: bytesDe(usuario), name: correo, displayName: nombre },
    // Algorithms EdDSA, ES256 and RS256, by their numbers in the COSE registry.
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: existentes.map((id) => ({ type: 'public-key', id: bytesDe(id) })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  }
  const { rawId, response } = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse
  const cuerpo: PasskeyParaAgregar = {
    credencial: textoDe(rawId),
    datos_cliente: textoDe(clientDataJSON),
    atestacion: textoDe(attestationObject),
  }
  await pedir('', cuerpo)
}

const FRASES: Readonly<Record<string, string>> = {
  passkey_incorrecta: 'Esa passkey no vale aquí. Entre con un código.',
  passkey_no_admitida: 'Ya tiene 10 passkeys. Quite una antes de agregar otra.',
  segundo_factor_requerido: 'Esta sesión se abrió sin su segundo factor. Salga y entre otra vez con él.',
  sesion_invalida: 'La sesión se cerró. Entre otra vez.',
  demasiadas_solicitudes: 'Demasiados intentos. Espere un minuto y repita.',
  NotAllowedError: 'No se completó. Inténtelo otra vez, o entre con un código.',
  InvalidStateError: 'Este aparato ya tiene una passkey de su cuenta.',
}
const codigoDe = (error: unknown) => (error instanceof Rechazo ? error.codigo : (error as Error).name)
const decir = (error: unknown) => FRASES[codigoDe(error)] ?? 'No se pudo. Revise su conexión e inténtelo otra vez.'

const bytesDe = (texto: string) =>
  Uint8Array.from(atob(texto.replace(/-/g, '+').replace(/_/g, '/')), (letra) => letra.charCodeAt(0))
const textoDe = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')
