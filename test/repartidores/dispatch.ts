import { beforeAll } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { createFoto } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createMobile, type Mobile } from './phone.ts'

/** The courier's phone and the merchant of a file's tests. */
export let mobile: Mobile
export let comercio: Comercio
let keys = 0
/** What the phone makes up for each action. */
export const key = () => `movil-${++keys}`

export function useDispatch() {
  const environment = useEnvironment()
  beforeAll(async () => {
    mobile = await createMobile(environment)
    comercio = await environment.createComercio()
  })
  /** When it happens, for what is told later. */
  const minutesAgo = (minutes: number) => new Date(environment.clock().getTime() - minutes * MINUTE_MS).toISOString()
  const ver = async (guia: string) => (await mobile.request('GET', `/guias/${guia}`)).body
  const eventos = async (guia: string) =>
    (await environment.db.pool.query('select * from evento where guia = $1 order by secuencia', [guia])).rows
  const foto = async (guia: string) => (await mobile.upload(guia, 'foto', await createFoto())).body.archivo as string

  return { environment, ago: minutesAgo, ver, eventos, foto }
}
