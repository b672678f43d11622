import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { responderReto } from './whatsapp.ts'

export const verificarWhatsapp: Handler<'verificarWhatsapp'> = async ({ query }, { ajustes: { mensajeria } }) => {
  const reto = mensajeria.tipo === 'whatsapp' ? responderReto(query, mensajeria.verifyToken) : undefined
  if (reto === undefined)
    throw new Problema('firma_invalida', 'La contraseña no es la acordada (WHATSAPP_VERIFY_TOKEN).')
  return { status: 200, body: reto }
}
