import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { answerChallenge } from './whatsapp.ts'

export const verificarWhatsapp: Handler<'verificarWhatsapp'> = async ({ query }, { settings: { mensajeria } }) => {
  const reto = mensajeria.tipo === 'whatsapp' ? answerChallenge(query, mensajeria.verifyToken) : undefined
  if (reto === undefined)
    throw new Problema('firma_invalida', 'La contraseña no es la acordada (WHATSAPP_VERIFY_TOKEN).')
  return { status: 200, body: reto }
}
