import { beforeAll, describe, expect, it } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { nobody } from './webhooks.ts'

const environment = useEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})

interface View {
  webhook: string
  desde: string
}
const listar = async (query = '?modo=test') => (await environment.asOperador('GET', `/webhooks${query}`)).body
const names = ({ datos }: { datos: View[] }) => datos.map(({ webhook }) => webhook)
/** An endpoint where nobody listens, once it has failed. */
async function createFailedAviso(): Promise<string> {
  const { webhook } = await comercio.api.webhooks.crear(nobody())
  await comercio.api.guias.crear(buildGuia())
  await waitUntil(async () => (await comercio.api.webhooks.obtener(webhook)).fallas)
  return webhook
}
const add = (webhook: string, cambio: string) =>
  environment.db.pool.query(`update webhook set ${cambio} where webhook = $1`, [webhook])

describe('GET /operaciones/v1/webhooks', () => {
  it('lists the endpoints that fail, of all merchants of a mode, with their last fault and what waits', async () => {
    const webhook = await createFailedAviso()
    await comercio.api.webhooks.crear({ ...nobody(), tipos: ['guia.entregado'] })
    const { datos, hay_mas: hasMore } = await listar()
    const { primera_falla_en, intentos } = (await comercio.api.webhooks.obtener(webhook)).fallas!
    expect(hasMore).toBe(false)
    expect(datos).toEqual([
      {
        comercio: comercio.comercio,
        nombre_comercio: 'Tienda La Ceiba',
        webhook,
        host: '127.0.0.1:9',
        modo: 'test',
        estado: 'fallando',
        motivo: null,
        desde: primera_falla_en,
        intentos,
        ultima_falla: { error: 'conexion', estado_http: null },
        pendientes: 1,
      },
    ])
    expect(names(await listar(''))).toEqual([])
    await comercio.api.webhooks.eliminar(webhook)
    expect(names(await listar())).toEqual([])
  })

  it('lists those that fail longest first, and tells the disabled ones apart', async () => {
    const [one, other, deshabilitado] = [
      await createFailedAviso(),
      await createFailedAviso(),
      await createFailedAviso(),
    ]
    await add(other, `primera_falla_en = now() - interval '2 days'`)
    await add(deshabilitado, `estado = 'deshabilitado', motivo = 'respondio_410', primera_falla_en = null`)
    expect(names(await listar())).toEqual([other, one, deshabilitado])
    expect(names(await listar('?modo=test&estado=fallando'))).toEqual([other, one])
    const { datos } = await listar('?modo=test&estado=deshabilitado')
    expect(datos).toMatchObject([{ webhook: deshabilitado, estado: 'deshabilitado', motivo: 'respondio_410' }])
    expect((await listar('?estado=activo')).codigo).toBe('parametro_invalido')
  })

  it('says what failed last of an endpoint whose deliveries have all ended', async () => {
    const webhook = await createFailedAviso()
    await environment.db.pool.query(
      `update webhook_aviso set estado = 'fallido', terminado_en = now(), ultimo_error = 'http', ultimo_status = 503,
         turno = turno + 1 where webhook = $1`,
      [webhook],
    )
    const { datos } = await listar()
    expect(datos.find((one: View) => one.webhook === webhook)).toMatchObject({
      ultima_falla: { error: 'http', estado_http: 503 },
      pendientes: 0,
    })
  })

  it('reads the failing endpoints alone', async () => {
    const client = await environment.db.pool.connect()
    await client.query('set enable_seqscan = off')
    const { rows } = await client.query(
      `explain select * from webhook where modo = 'live' and estado <> 'eliminado'
         and (primera_falla_en is not null or estado = 'deshabilitado') order by primera_falla_en limit 201`,
    )
    client.release(true)
    expect(JSON.stringify(rows)).toContain('webhook_con_fallas_idx')
  })
})
