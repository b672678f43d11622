/** Express 4 y 5. No necesita `express.raw`; si usa `express.json()`, póngalo después de esta ruta. */
import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { recibirWebhooks } from '@guias/sdk/express'
import express from 'express'

const { PORT = '8080', GUIAS_AVISOS = 'avisos' } = process.env
const app = express()

app.post('/webhooks/guias', recibirWebhooks(guardar))

app.listen(Number(PORT), () => console.log(`escucho en http://127.0.0.1:${PORT}/webhooks/guias`))

/** Guarda un archivo por aviso, entero o ninguno. En su servidor, use una tabla con `aviso.id` como llave única. */
async function guardar(aviso) {
  const archivo = `${GUIAS_AVISOS}/${aviso.id}.json`
  if (existsSync(archivo)) return // el mismo aviso puede llegar más de una vez
  await writeFile(`${archivo}.parte`, JSON.stringify(aviso))
  await rename(`${archivo}.parte`, archivo)
}
