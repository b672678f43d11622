/**
 * Express. `express.raw` en esta ruta y antes de cualquier `express.json()`: la firma es de los bytes tal como llegaron.
 */
import { ErrorFirma, verificarWebhook } from '@guias/sdk'
import express from 'express'
import { atender, esNuevo } from './atender.ts'

export const app = express()

app.post('/webhooks/guias', express.raw({ type: 'application/json', limit: '1mb' }), async (req, res) => {
  try {
    const aviso = await verificarWebhook(req.body, req.headers, process.env.GUIAS_SECRETO!)
    if (esNuevo(aviso)) console.log(atender(aviso))
    res.sendStatus(204)
  } catch (error) {
    if (!(error instanceof ErrorFirma)) throw error
    console.error(error.motivo, error.message)
    res.sendStatus(400)
  }
})

app.use(express.json()) // después: el resto de sus rutas
