/** Express 4 y 5. `express.raw` va en esta ruta y antes de cualquier `express.json()`: la firma es de los bytes. */
import express from 'express'
import { recibir } from './recibir.mjs'

const { PORT = '8080' } = process.env
const app = express()

app.post('/webhooks/guias', express.raw({ type: () => true, limit: '1mb' }), async (req, res) => {
  res.sendStatus(await recibir(req.body, req.headers))
})

app.listen(Number(PORT), () => console.log(`escucho en http://127.0.0.1:${PORT}/webhooks/guias`))
