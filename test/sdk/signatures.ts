import { createHmac } from 'node:crypto'
import { ErrorFirma, ErrorGuias, verificarWebhook } from '@guias/sdk'
import { expect } from 'vitest'
import { fault } from './server.ts'

export const SECRETO = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
export const OTHER_SECRETO = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDHHkWPzqGmDk='
export const ID = 'evt_7K3M9QX2A1B4_1'
export const AVISO = {
  id: ID,
  tipo: 'guia.entregado',
  creado_en: '2026-11-20T15:04:05.000Z',
  datos: {
    guia: { guia: '7K3M9QX2A1B4', estado: 'entregado', secuencia: 7 },
    evento: { descripcion: 'Señal de Ñuño ✓ 📦' },
  },
}
export const SIGNED_BODY = JSON.stringify(AVISO)
export const now = () => Math.floor(Date.now() / 1000)

/** Everybody's signature, written down once more and by other means. */
export const mac = (secret: string, id: string, timestamp: number | string, body: string | Uint8Array) =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64')}`
export const headers = (cambios: Record<string, string | undefined> = {}, timestamp: number | string = now()) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': mac(SECRETO, ID, timestamp, SIGNED_BODY),
  ...cambios,
})
/** Why it wasn't accepted. */
export const motivo = async (...args: Parameters<typeof verificarWebhook>) => {
  const error = await fault<ErrorFirma>(verificarWebhook(...args))
  expect(error).toBeInstanceOf(ErrorFirma)
  expect(error).toBeInstanceOf(ErrorGuias)
  expect(error.name).toBe('ErrorFirma')
  return error.motivo
}
