/** Express 4 y 5. `express.raw` va en esta ruta y antes de cualquier `express.json()`: la firma es de los bytes. */
import express from 'express'
import { recibir } from './recibir.ts'

export const app = express()

app.post('/webhooks/guias', express.raw({ type: () => true, limit: '1mb' }), async (req, res) => {
  res.sendStatus(await recibir(req.body, req.headers))
})
