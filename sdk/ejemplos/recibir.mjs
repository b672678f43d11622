/** Comprueba un aviso, lo guarda una sola vez y da el estado HTTP con que se contesta. Nunca lanza un error. */
import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { ErrorFirma, verificarWebhook } from '@guias/sdk'

/**
 * @param {import('@guias/sdk').CuerpoRecibido} cuerpo
 * @param {import('@guias/sdk').CabecerasRecibidas} cabeceras
 */
export async function recibir(cuerpo, cabeceras) {
  try {
    const aviso = await verificarWebhook(cuerpo, cabeceras, process.env.GUIAS_SECRETO)
    console.log((await guardar(aviso)) ? 'recibido' : 'repetido', aviso.id, aviso.tipo)
    return 204 // el aviso ya está guardado: conteste ahora y trabaje después
  } catch (error) {
    if (error instanceof ErrorFirma && error.motivo !== 'secreto') {
      console.error(`rechazado (${error.motivo}) ${error.message}`)
      return 400
    }
    console.error('sin guardar', error)
    return 500 // el aviso volverá a llegar
  }
}

/** Guarda un archivo por aviso, entero o ninguno. En su servidor, use una tabla con `aviso.id` como llave única. */
async function guardar(aviso) {
  const archivo = `${process.env.GUIAS_AVISOS ?? 'avisos'}/${aviso.id}.json`
  if (existsSync(archivo)) return false
  await writeFile(`${archivo}.parte`, JSON.stringify(aviso))
  await rename(`${archivo}.parte`, archivo)
  return true
}
