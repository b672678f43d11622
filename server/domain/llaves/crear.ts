import { inTransaction } from '../../data/db.ts'
import { requireComercio } from '../comercios/comercio.ts'
import { llavePowers, parseExpiry, readNetworks, saveLlave } from '../identities/llave.ts'
import type { Handler } from '../operation.ts'

export const crearLlave: Handler<'crearLlave'> = async ({ path, body, ...caller }, { db, clock, bitacora }) => {
  const { id: comercioId, comercio } = await requireComercio(db, path.comercio)
  const { modo, alcances } = body
  const now = clock()
  const vence_en = parseExpiry(body.vence_en, now)
  const de = { comercioId, comercio, modo, alcances, vence_en, redes: readNetworks(body.redes) }
  const createdLlave = await inTransaction(db.central, async (query) => {
    const llave = await saveLlave({ query }, now, de)
    await bitacora.record(query, caller, {
      accion: 'crearLlave',
      sobre: ['llave', llave.id],
      de: { comercio_id: comercioId, modo },
      despues: { modo, ...llavePowers(llave) },
    })
    return llave
  })
  return { status: 201, body: createdLlave }
}
