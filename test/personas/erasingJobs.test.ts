import { expect, it } from 'vitest'
import { eraseOldPersonas } from '../../server/domain/personas/erase.ts'
import { deletePruebas } from '../../server/domain/pruebasEntrega/erase.ts'
import { eraseUbicaciones } from '../../server/domain/ubicacion/erase.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { erasingDeps } from './erasingDeps.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))

// Jobs that wait for each other's guides, or lock other rows of a guide first, meet deadlocks.
it.each([
  { job: eraseUbicaciones, left: 'select from guia where ubicacion_lat is not null' },
  { job: eraseOldPersonas, left: 'select from guia where datos_borrados_en is null' },
  { job: deletePruebas, left: 'select from prueba_entrega' },
])(
  '$job.name leaves a guide that another transaction holds to its next run, without waiting',
  async ({ job, left }) => {
    const comercio = await environment.createComercio()
    const { guia } = await createDeliveredGuia(environment, comercio)
    await createDeliveredGuia(environment, comercio)
    const deps = erasingDeps(environment)
    const count = async () => (await environment.db.pool.query(left)).rowCount
    const client = await environment.db.pool.connect()
    try {
      await client.query('begin')
      expect((await client.query('select from guia where guia = $1 for update', [guia])).rowCount).toBe(1)
      await job(deps)
      expect(await count()).toBe(1)
    } finally {
      await client.query('rollback')
      client.release()
    }
    await job(deps)
    expect(await count()).toBe(0)
  },
)
