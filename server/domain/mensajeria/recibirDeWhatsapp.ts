import { hash } from 'node:crypto'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { firmaValida } from './whatsapp.ts'

/**
 * Stores a WhatsApp webhook as received, and answers at once. A job interprets the body later. The same body sent again
 * is not stored twice.
 */
export const recibirDeWhatsapp: Handler<'recibirDeWhatsapp'> = async (
  { body, headers },
  { db, reloj, nuevoId, ajustes: { mensajeria }, avisarTrabajo },
) => {
  const crudo = body as unknown as Buffer
  const firma = headers?.['x-hub-signature-256']
  if (mensajeria.tipo !== 'whatsapp' || !firmaValida(crudo, firma, mensajeria.appSecret))
    throw new Problema('firma_invalida', 'La firma no corresponde al cuerpo recibido. Revise WHATSAPP_APP_SECRET.')
  const cuerpo = exigirJson(crudo)
  await db.prisma.entrante.createMany({
    data: { id: nuevoId().id, huella: hash('sha256', crudo, 'buffer'), cuerpo, recibido_en: reloj() },
    skipDuplicates: true,
  })
  avisarTrabajo()
  return { status: 200, body: { ok: true } }
}

/**
 * Checks that a body is JSON, and returns it as text. The column is text because JSON may contain what PostgreSQL's
 * JSON types reject.
 * @throws Problema `json_invalido`
 */
function exigirJson(crudo: Buffer): string {
  const texto = crudo.toString('utf8').replaceAll('\0', '')
  try {
    JSON.parse(texto)
    return texto
  } catch (cause) {
    throw new Problema('json_invalido', 'El cuerpo no es JSON.', { cause })
  }
}
