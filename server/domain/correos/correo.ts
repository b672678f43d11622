import { createHmac } from 'node:crypto'
import { type Query, type RowOf, statement } from '../../data/db.ts'
import type { correo } from '../../generated/contract/prisma/client.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { readAddress } from '../../platform/mail/address.ts'
import { seal, unsealIfKnown } from '../../platform/sealing.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'
import type { CorreoData, CorreoType } from './templates.ts'

export type { FactorChange } from './templates.ts'

/**
 * Row of `correo`. State `enviando`: a process is sending the mail until `proximo_en`. `rebotado`: the mail server
 * refused it permanently. `caducado`: it was not sent before `vence_en`.
 */
export type CorreoRow = RowOf<
  correo,
  {
    tipo: CorreoType
    estado: 'pendiente' | 'enviando' | 'enviado' | 'rebotado' | 'caducado'
    canal: 'smtp' | 'buzon' | null
  }
>

/** Content of a mail, which is stored encrypted, so that the names of its members never change. */
export interface CorreoContent<T extends CorreoType = CorreoType> {
  para: string
  datos: CorreoData[T]
}

const SAVE = statement<
  Pick<CorreoRow, 'id' | 'huella' | 'tipo' | 'creado_en' | 'vence_en'> & { contenido: Uint8Array }
>(
  'correos.save',
  'central',
  `insert into correo (id, huella, tipo, contenido, estado, intentos, creado_en, proximo_en, vence_en)
   values (:id, :huella, :tipo, :contenido, 'pendiente', 0, :creado_en, :creado_en, :vence_en)`,
)

/**
 * Returns the digests under which mails to an address may be stored: one for each master key, the present key's first.
 */
const correoDigests = (secrets: Deps['secretos'], address: string) =>
  secrets.todas('correos').map(({ clave }) => new Uint8Array(createHmac('sha256', clave).update(address).digest()))

/** Returns the columns that store a mail's address as a digest and its content encrypted. */
export const sealCorreo = (secrets: Deps['secretos'], id: string, content: CorreoContent) => ({
  huella: correoDigests(secrets, content.para)[0]!,
  contenido: seal(secrets, 'correos', id, Buffer.from(JSON.stringify(content))),
})

/**
 * Queues a mail, in the transaction of the change that causes it. The caller calls `notifyJobs` after the commit.
 * @param para address as `readAddress` returns it
 * @param lifetimeMinutes minutes after which the mail is useless and is not sent any more
 */
export async function saveCorreo<T extends CorreoType>(
  query: Query,
  { secretos, newId }: Pick<Deps, 'secretos' | 'newId'>,
  { tipo, para, datos, lifetimeMinutes }: CorreoContent<T> & { tipo: T; lifetimeMinutes: number },
): Promise<void> {
  const { id, creado_en } = newId()
  await query(SAVE, {
    id,
    tipo,
    ...sealCorreo(secretos, id, { para, datos }),
    creado_en,
    vence_en: new Date(creado_en.getTime() + lifetimeMinutes * MINUTE_MS),
  })
}

/**
 * Decrypts the content of a mail; undefined if it was erased, or if its master key no longer exists.
 * @throws Error if the row was altered
 */
export function readCorreo(
  secrets: Deps['secretos'],
  { id, contenido }: Pick<CorreoRow, 'id' | 'contenido'>,
): CorreoContent | undefined {
  const plaintext = contenido && unsealIfKnown(secrets, 'correos', id, contenido)
  return plaintext ? JSON.parse(plaintext.toString()) : undefined
}

const ERASE = statement<{ huellas: readonly Uint8Array[] }>(
  'correos.erase',
  'central',
  'delete from correo where huella = any(:huellas::bytea[])',
)

/** Deletes all mails to these addresses. */
export const eraseCorreos = (query: Query, secrets: Deps['secretos'], addresses: readonly string[]) =>
  query(ERASE, { huellas: addresses.flatMap((address) => correoDigests(secrets, address)) })

const LAST_BOUNCES = statement<{ huellas: readonly Uint8Array[] }, Pick<CorreoRow, 'huella'> & { rebotado_en: Date }>(
  'correos.lastBounces',
  'central',
  `select huella, max(rebotado_en) as rebotado_en from correo where huella = any(:huellas::bytea[]) group by huella
   having max(rebotado_en) > coalesce(max(enviado_en) filter (where estado = 'enviado'), '-infinity')`,
)

/**
 * Returns when the last mail to each of these addresses bounced, by address. An address to which a later mail left is
 * not in the result. Mails are known for 30 days.
 */
export async function readBounces(
  query: Query,
  secrets: Deps['secretos'],
  addresses: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const addressOf = new Map(
    addresses.flatMap((address) =>
      correoDigests(secrets, address).map((digest) => [Buffer.from(digest).toString('hex'), address] as const),
    ),
  )
  const huellas = [...addressOf.keys()].map((hex) => new Uint8Array(Buffer.from(hex, 'hex')))
  const rows = await query(LAST_BOUNCES, { huellas })
  return new Map(
    rows.map(({ huella, rebotado_en }) => [addressOf.get(Buffer.from(huella).toString('hex'))!, rebotado_en]),
  )
}

/**
 * Reads a mail address of a request.
 * @throws Problema 422 that names the field
 */
export function requireCorreo(text: string, campo = '/correo'): string {
  const correo = readAddress(text)
  if (correo !== undefined) return correo
  const mensaje = 'no es una dirección de correo como ana@ejemplo.com'
  throw problemOfFaults('validacion', [{ campo, codigo: 'formato_invalido', mensaje }])
}
