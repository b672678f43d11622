import type { Handler } from '../contrato/tipos.ts'
import { Problema } from '../errores.ts'
import { responderReto } from './whatsapp.ts'

export const verificarWhatsapp: Handler<'verificarWhatsapp'> = async ({ query }, { whatsapp }) => {
  const reto = whatsapp && responderReto(query, whatsapp.verifyToken)
  if (reto === undefined)
    throw new Problema('firma_invalida', 'La contraseña no es la acordada (WHATSAPP_VERIFY_TOKEN).')
  return { status: 200, body: reto }
}
