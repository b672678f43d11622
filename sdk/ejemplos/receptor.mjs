// Un receptor de webhooks entero. Solo necesita Node 20 o posterior.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const { GUIAS_SECRETO = '', GUIAS_AVISOS = 'avisos', PORT = '8080' } = process.env
const LIMITE = 1024 * 1024
if (!GUIAS_SECRETO.startsWith('whsec_')) throw new Error('GUIAS_SECRETO no es el secreto de un webhook (whsec_…)')

const servidor = createServer(async (req, res) => {
  const contestar = (status) => res.writeHead(status, { Connection: 'close' }).end()
  try {
    const cuerpo = await leer(req)
    if (!cuerpo) return contestar(413)
    if (!vale(cuerpo, req.headers)) {
      console.log('rechazado')
      return contestar(400)
    }
    const { id, tipo } = JSON.parse(cuerpo)
    const nuevo = await guardar(id, cuerpo)
    contestar(204) // el aviso ya está guardado: conteste ahora y trabaje después
    console.log(nuevo ? `firma comprobada: ${tipo}` : `repetido: ${id}`)
  } catch (error) {
    console.error('sin guardar', error) // la conexión se cortó, o el aviso no se pudo guardar: volverá a llegar
    contestar(500)
  }
})

/** Lee los bytes tal como llegaron, que son los que se firmaron; no devuelve nada si son demasiados. */
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

/** Dice si el servicio firmó el cuerpo hace menos de 5 minutos. */
function vale(cuerpo, { 'webhook-id': id, 'webhook-timestamp': hora, 'webhook-signature': firmas = '' }) {
  if (!(Math.abs(Math.floor(Date.now() / 1000) - hora) <= 300)) return false
  const clave = Buffer.from(GUIAS_SECRETO.replace('whsec_', ''), 'base64')
  const buena = Buffer.from(
    `v1,${createHmac('sha256', clave).update(`${id}.${hora}.`).update(cuerpo).digest('base64')}`,
  )
  return firmas.split(' ').some((una) => {
    const dada = Buffer.from(una)
    return dada.length === buena.length && timingSafeEqual(dada, buena)
  })
}

/** Guarda un archivo por aviso, entero o ninguno. En su servidor, use una tabla con el id como llave única. */
async function guardar(id, cuerpo) {
  const archivo = `${GUIAS_AVISOS}/${id}.json`
  if (existsSync(archivo)) return false
  await writeFile(`${archivo}.parte`, cuerpo)
  await rename(`${archivo}.parte`, archivo)
  return true
}

servidor.listen(Number(PORT), '127.0.0.1', () => console.log(`escucho en http://127.0.0.1:${servidor.address().port}`))
