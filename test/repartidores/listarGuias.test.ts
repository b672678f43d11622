import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { buildGuia } from '../factories.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'
import { createMobile } from './phone.ts'

const { environment, ver } = useDispatch()

describe('GET /repartidor/v1/guias', () => {
  it('gives a day’s guides at once, in the order asked for, and names what is none', async () => {
    const other = await environment.createComercio('live')
    const guias: string[] = []
    for (let i = 0; i < 6; i++) guias.push((await (i % 2 ? other : comercio).api.guias.crear(buildGuia())).guia)
    const sentRequests = [...guias.toReversed(), guias[0]!.toLowerCase(), 'nada', '000000000000']
    const { status, body } = await mobile.request('GET', `/guias?guia=${sentRequests.join('&guia=')}`)
    expect(status).toBe(200)
    expect(body.datos.map(({ guia }: { guia: string }) => guia)).toEqual(guias.toReversed())
    expect(body.datos[0]).toEqual(await ver(guias[5]!))
    // 000000000000 is well formed, and still nobody's.
    expect(body.desconocidas).toEqual(['nada', '000000000000'])
    expect((await mobile.request('GET', `/guias?guia=${guias[0]}`)).body.datos).toHaveLength(1)
  })

  it('gives what the courier has with him when he asks for none, the last that changed first', async () => {
    const ownMobile = await createMobile(environment)
    const listOwnGuias = async () =>
      (await ownMobile.request('GET', '/guias')).body.datos.map(({ guia }: { guia: string }) => guia) as string[]
    expect(await listOwnGuias()).toEqual([])
    const [one, other] = [
      await createGuiaOnRoute(environment, comercio, ownMobile.repartidor),
      await createGuiaOnRoute(environment, comercio, ownMobile.repartidor),
    ]
    await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    await createGuiaOnRoute(environment, comercio)
    expect(await listOwnGuias()).toEqual([other, one])
    const { datos, desconocidas } = (await ownMobile.request('GET', '/guias')).body
    expect(desconocidas).toEqual([])
    // The phone tells by these which parcels go to one door.
    expect(datos[0]).toMatchObject({
      custodia: 'propia',
      telefono: '+50231481676',
      direccion: null,
      municipio: 'San Juan Sacatepéquez',
      ubicacion: { estado: 'confirmada', lat: 14.71889, lng: -90.64417 },
    })
    const motivo = 'destinatario_ausente'
    await ownMobile.registrar(one, { estado: 'intento_fallido', motivo, idempotencia: key() })
    expect(await listOwnGuias()).toEqual([one, other])
    await ownMobile.registrar(one, { estado: 'en_bodega', idempotencia: key() })
    expect(await listOwnGuias()).toEqual([other])
    await environment.asOperador('POST', `/guias/${other}/eventos`, { estado: 'en_devolucion' })
    await environment.asOperador('POST', `/guias/${other}/eventos`, { estado: 'devuelto' })
    expect(await listOwnGuias()).toEqual([])
  })

  it('says what the courier delivered or returned on the company’s day, and nothing of the day before', async () => {
    const ownMobile = await createMobile(environment)
    const today = async () => (await ownMobile.request('GET', '/guias')).body.hoy
    const start = (await today()).desde
    expect(start).toMatch(/T06:00:00\.000Z$/)
    const remainingMs = environment.clock().getTime() - Date.parse(start)
    expect(remainingMs >= 0 && remainingMs < 24 * 60 * MINUTE_MS).toBe(true)
    expect((await today()).terminadas).toEqual([])
    const guias: string[] = []
    for (let i = 0; i < 3; i++) guias.push(await createGuiaOnRoute(environment, comercio, ownMobile.repartidor))
    const [one, other, third] = guias
    await ownMobile.deliver(one!, {
      recibido_por: { nombre: 'x' },
      fotos: [(await ownMobile.upload(one!, 'foto', await createFoto())).body.archivo],
      idempotencia: key(),
    })
    for (const estado of ['en_devolucion', 'devuelto'])
      await environment.asOperador('POST', `/guias/${other}/eventos`, { estado })
    await ownMobile.registrar(third!, { estado: 'intento_fallido', motivo: 'otro', idempotencia: key() })
    expect((await today()).terminadas).toEqual([other, one])
    // Of somebody else, and of guides that were asked for, it says nothing.
    expect((await mobile.request('GET', '/guias')).body.hoy.terminadas).not.toContain(one)
    expect((await ownMobile.request('GET', `/guias?guia=${one}`)).body.hoy).toBeNull()
    await environment.db.pool.query(
      `update guia set estado_en = $1::timestamptz - interval '1 second' where guia = $2`,
      [start, one],
    )
    expect((await today()).terminadas).toEqual([other])
  })

  it('takes from 1 to 100', async () => {
    const list = (n: number) => Array.from({ length: n }, (_, i) => `guia=X${i}`).join('&')
    expect((await mobile.request('GET', `/guias?${list(100)}`)).body.desconocidas).toHaveLength(100)
    for (const query of ['?guia=', `?${list(101)}`, `?guia=${'A'.repeat(65)}`, '?guia=A&guia=A'])
      expect([query, (await mobile.request('GET', `/guias${query}`)).status]).toEqual([query, 400])
  })
})
