import { hash } from 'node:crypto'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { isFirmaValid } from './whatsapp.ts'

/**
 * Stores a WhatsApp webhook as received, and answers at once. A job interprets the body later. The same body sent again
 * is not stored twice.
 */
export const recibirDeWhatsapp: Handler<'recibirDeWhatsapp'> = async (
  { body, headers },
  { db, clock, newId, settings: { mensajeria }, notifyJobs },
) => {
  const rawBody = body as unknown as Buffer
  const firma = headers?.['x-hub-signature-256']
  if (mensajeria.tipo !== 'whatsapp' || !isFirmaValid(rawBody, firma, mensajeria.appSecret))
    throw new Problema('firma_invalida', 'La firma no corresponde al cuerpo recibido. Revise WHATSAPP_APP_SECRET.')
  const cuerpo = requireJson(rawBody)
  await db.prisma.entrante.createMany({
    data: { id: newId().id, huella: hash('sha256', rawBody, 'buffer'), cuerpo, recibido_en: clock() },
    skipDuplicates: true,
  })
  notifyJobs()
  return { status: 200, body: { ok: true } }
}

/**
 * Checks that a body is JSON, and returns it as text. The column is text because JSON may contain what PostgreSQL's
 * JSON types reject.
 * @throws Problema `json_invalido`
 */
function requireJson(rawBody: Buffer): string {
  const text = rawBody.toString('utf8').replaceAll('\0', '')
  try {
    JSON.parse(text)
    return text
  } catch (cause) {
    throw new Problema('json_invalido', 'El cuerpo no es JSON.', { cause })
  }
}
