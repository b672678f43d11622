import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useUbicacionRequests } from './requests.ts'

const environment = shareEnvironment()
const { linkOf, ver, send, read, createGuia: fresh } = useUbicacionRequests(environment)
const IN_PETEN = { lat: '16.9306', lng: '-89.8925', metodo: 'mapa' }

describe('the catalogue', () => {
  it('warns of what it doesn’t know, suggests, and stops nobody', async () => {
    const comercio = await environment.createComercio()
    const created = await comercio.api.guias.crear(
      buildGuia({ departamento: 'Sacatepequez', municipio: 'Antigua Guatemal' }),
    )
    expect(created.advertencias).toMatchObject([
      {
        codigo: 'destino_desconocido',
        campo: '/municipio',
        mensaje: expect.stringContaining('«Antigua Guatemal»'),
        sugerencia: { departamentos: [], municipios: expect.arrayContaining(['Antigua Guatemala']) },
      },
    ])
    expect(created.ubicacion.distancia_km).toBeNull()
    const { eventos: _eventos, ...detalle } = await read(comercio, created.guia)
    expect(detalle).toEqual(created)
    expect((await comercio.api.guias.listar()).datos).toEqual([created])
    const { resultados } = await comercio.api.guias.crearLote({
      guias: [buildGuia({ departamento: 'Marte', municipio: 'Olimpo' })],
    })
    const marsWarning = {
      codigo: 'destino_desconocido',
      campo: '/departamento',
      mensaje: expect.stringContaining('«Marte»'),
    }
    expect(resultados[0]).toMatchObject({ ok: true, advertencias: [marsWarning] })
    // It is asked for all the same, and confirmed without a question.
    const guia = await fresh(comercio, { departamento: 'Marte', municipio: 'Olimpo' })
    const path = await linkOf(guia)
    expect(await (await ver(path)).text()).toContain('Olimpo, Marte')
    expect((await send(path, IN_PETEN)).status).toBe(303)
    expect(await read(comercio, guia)).toMatchObject({
      advertencias: [marsWarning],
      ubicacion: { estado: 'confirmada', distancia_km: null },
    })
  })

  it.each([
    ['GUATEMALA', 'san juan sacatepequez'],
    ['Depto. de Guatemala', 'San Juan Sacatepéquez'],
    ['GT-01', 'San  Juan  Sacatepéquez'],
  ])('knows %s, %s', async (departamento, municipio) => {
    const comercio = await environment.createComercio()
    const created = await comercio.api.guias.crear(buildGuia({ departamento, municipio }))
    expect(created.advertencias).toEqual([])
    // As sent, not as we would write it.
    expect([created.departamento, created.municipio]).toEqual([departamento, municipio])
    expect(created.ubicacion.distancia_km).toBeLessThan(10)
  })

  it('notices coordinates in the wrong order', async () => {
    const comercio = await environment.createComercio()
    const destino = { departamento: 'San Salvador', municipio: 'San Salvador', telefono: '+50370123456' }
    const derecha = await comercio.api.guias.crear(buildGuia({ ...destino, lat: 13.6929, lng: -89.2182 }))
    const reversedOrder = await comercio.api.guias.crear(buildGuia({ ...destino, lat: -89.2182, lng: 13.6929 }))
    expect(derecha.advertencias).toEqual([])
    expect(reversedOrder.ubicacion.distancia_km).toBeGreaterThan(9_000)
    const mensaje = expect.stringContaining(` ${reversedOrder.ubicacion.distancia_km} km `)
    expect(reversedOrder.advertencias).toEqual([
      {
        codigo: 'coordenadas_invertidas',
        campo: '/ubicacion',
        mensaje,
        sugerencia: { lat: 13.6929, lng: -89.2182 },
      },
    ])
  })
})
