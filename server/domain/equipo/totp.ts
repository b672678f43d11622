import { type Db, statement } from '../../data/db.ts'
import type { segundo_factor } from '../../generado/contrato/prisma/client.ts'
import { keyIdOf, reseal, seal, unsealIfKnown } from '../../platform/sealing.ts'
import type { Deps } from '../deps.ts'

/** Seconds of a time step (RFC 6238, 4.1). */
const PASO = 30
/** Bytes of a secret: the length of a SHA-1 digest (RFC 4226, 4). */
const BYTES = 20

/** Loads the library at first use, because few requests need it. */
const cargar = () => import('otplib')

const lugarDe = (persona_id: string) => `totp ${persona_id}`

/** Encrypts an app's secret for the row of its person. */
const sellar = (secretos: Deps['secretos'], persona_id: string, secreto: string) =>
  seal(secretos, 'segundo_factor', lugarDe(persona_id), Buffer.from(secreto))

/** Creates a secret for an app. Returns it in base32, as the text of a QR code, and encrypted. */
export async function nuevoSecreto(
  { secretos, ajustes }: Pick<Deps, 'secretos' | 'ajustes'>,
  { personaId, correo }: { personaId: string; correo: string },
) {
  const { generateSecret } = await cargar()
  const secreto = generateSecret({ length: BYTES })
  return {
    secreto,
    uri: await uriDe(ajustes.marca.nombre, correo, secreto),
    sellado: sellar(secretos, personaId, secreto),
  }
}

const uriDe = async (issuer: string, label: string, secret: string) =>
  (await cargar()).generateURI({ issuer, label, secret })

/**
 * Returns the time step of a code: the present one, the one before or the next. Undefined if the code is wrong, or if
 * the master key of the secret no longer exists.
 * @throws Error if the secret was altered
 */
export async function pasoDe(
  { secretos, reloj }: Pick<Deps, 'secretos' | 'reloj'>,
  persona_id: string,
  sellado: Uint8Array,
  codigo: string,
): Promise<number | undefined> {
  if (!/^[0-9]{6}$/.test(codigo)) return undefined
  const secret = unsealIfKnown(secretos, 'segundo_factor', lugarDe(persona_id), sellado)?.toString()
  if (secret === undefined) return undefined
  const { verify } = await cargar()
  const epoch = Math.floor(reloj().getTime() / 1_000)
  const verificado = await verify({
    strategy: 'totp',
    secret,
    token: codigo,
    epoch,
    period: PASO,
    epochTolerance: PASO,
  })
  return verificado.valid ? Math.floor(epoch / PASO) + verificado.delta : undefined
}

/** Removes spaces and hyphens, which apps insert for readability. */
export const sinSeparadores = (codigo: string) => codigo.replace(/[\s-]/g, '')

const TODOS = statement<object, Pick<segundo_factor, 'persona_id' | 'secreto'>>(
  'equipo.secretosDeTotp',
  'select persona_id, secreto from segundo_factor where secreto is not null',
)

const RECIFRAR = statement<{ persona_id: string; antes: Uint8Array; secreto: Uint8Array }>(
  'equipo.recifrarTotp',
  'update segundo_factor set secreto = :secreto where persona_id = :persona_id and secreto = :antes',
)

/** Re-encrypts secrets of apps that an older master key encrypted. */
export async function reencryptTotp({ db, secretos, log }: Pick<Deps, 'secretos' | 'log'> & { db: Db }): Promise<void> {
  const { kid } = secretos.presente('segundo_factor')
  let recifrados = 0
  for (const { persona_id, secreto: antes } of await db.consultar(TODOS)) {
    if (antes === null || keyIdOf(antes) === kid) continue
    const secreto = reseal(secretos, 'segundo_factor', lugarDe(persona_id), antes)
    if (secreto) await db.consultar(RECIFRAR, { persona_id, antes, secreto })
    else log.error({ kid: keyIdOf(antes) }, 'MASTER_KEYS lacks the key of the secret of an app')
    if (secreto) recifrados++
  }
  if (recifrados > 0) log.info({ secretos: recifrados }, 'secrets of apps encrypted with the present master key')
}
