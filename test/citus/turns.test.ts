import { expect, it } from 'vitest'
import { eraseOldPersonas } from '../../server/domain/personas/erase.ts'
import { deletePruebas } from '../../server/domain/pruebasEntrega/erase.ts'
import { eraseUbicaciones } from '../../server/domain/ubicacion/erase.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { erasingDeps } from '../personas/erasingDeps.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const COMERCIOS = 4

it('jobs that erase the same guides at once erase all of them on every machine, without a deadlock', async () => {
  for (let n = 0; n < COMERCIOS; n++) {
    const comercio = await environment.createComercio()
    await createDeliveredGuia(environment, comercio)
    await createDeliveredGuia(environment, comercio)
  }
  const deps = erasingDeps(environment)
  const count = async () => {
    const { rows } = await environment.db.pool.query<{ lugares: number; personas: number; pruebas: number }>(
      `select (select count(*)::int from guia where lat is not null or ubicacion_lat is not null) as lugares,
         (select count(*)::int from guia where datos_borrados_en is null) as personas,
         (select count(*)::int from prueba_entrega) as pruebas`,
    )
    return rows[0]
  }
  const all = 2 * COMERCIOS
  expect(await count()).toEqual({ lugares: all, personas: all, pruebas: all })
  const jobs = [eraseUbicaciones, eraseOldPersonas, deletePruebas]
  await Promise.all([...jobs, ...jobs].map((job) => job(deps)))
  // A job skips rows that another one holds. Its next run erases them.
  for (const job of jobs) await job(deps)
  expect(await count()).toEqual({ lugares: 0, personas: 0, pruebas: 0 })
})
