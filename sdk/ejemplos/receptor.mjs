/**
 * Un receptor de webhooks entero, sin más que Node:
 *
 *   PORT=8080 GUIAS_SECRETO=whsec_… node sdk/ejemplos/receptor.mjs
 *
 * Mientras cambia de secreto, ponga los dos en GUIAS_SECRETO, separados por una coma.
 */
import { createServer } from 'node:http'
import { ErrorFirma, firmarWebhook, verificarWebhook } from '@guias/sdk'

const LIMITE = 1024 * 1024
const RECORDADOS = 10_000

const secretos = (process.env.GUIAS_SECRETO ?? '').split(',')
// Un secreto mal copiado se descubre aquí, no con el primer aviso.
await firmarWebhook('', { id: 'arranque', secreto: secretos }).catch((error) => {
  console.error(`GUIAS_SECRETO: ${error.message}`)
  process.exit(1)
})

/** Los últimos que llegaron. En su servidor, una tabla con `aviso.id` como llave única: sobrevive a un reinicio. */
const recibidos = new Set()

const servidor = createServer(async (req, res) => {
  try {
    if (req.method !== 'POST') return contestar(res, 405, { Allow: 'POST' })
    const cuerpo = await leer(req)
    if (!cuerpo) return contestar(res, 413, { Connection: 'close' })

    const aviso = await verificarWebhook(cuerpo, req.headers, secretos)
    const repetido = recibidos.has(aviso.id)
    if (!repetido) recordar(aviso)
    // Guardado: se contesta ya, y se trabaja después. Lo que tarde más de 15 s se volvería a enviar.
    contestar(res, 204)
    if (repetido) console.log(`repetido ${aviso.id}`)
    else setImmediate(atender, aviso)
  } catch (error) {
    if (error instanceof ErrorFirma) {
      console.error(`rechazado (${error.motivo}) ${error.message}`)
      contestar(res, 400)
    } else if (!req.complete) {
      console.error('la conexión se cortó antes de terminar')
    } else {
      console.error(error)
      contestar(res, 500)
    }
  }
})

/** Los bytes tal como llegaron, que son los que se firmaron; nada si son demasiados. */
async function leer(req) {
  const trozos = []
  let largo = 0
  for await (const trozo of req.iterator({ destroyOnReturn: false })) {
    largo += trozo.length
    if (largo > LIMITE) return undefined
    trozos.push(trozo)
  }
  return Buffer.concat(trozos)
}

function recordar({ id }) {
  recibidos.add(id)
  if (recibidos.size > RECORDADOS) recibidos.delete(recibidos.values().next().value)
}

/** Aquí va lo suyo. Los avisos llegan sin orden: si ya tiene de esta guía una `secuencia` mayor, este es viejo. */
function atender(aviso) {
  if ('guia' in aviso.datos) {
    const { guia, estado, secuencia } = aviso.datos.guia
    console.log(`atendido ${aviso.id} ${aviso.tipo}: guía ${guia}, ${estado} (${secuencia})`)
  } else console.log(`atendido ${aviso.id} ${aviso.tipo}`)
}

function contestar(res, status, cabeceras = {}) {
  res.writeHead(status, cabeceras).end()
}

servidor.listen(Number(process.env.PORT ?? 8080), () => {
  console.log(`escucho en http://127.0.0.1:${servidor.address().port}`)
})
