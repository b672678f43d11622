import { describe, expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { hasta, sinDestino, unaGuia } from '../fabricas.ts'
import { usarReceptores } from '../webhooks/receptor.ts'

const entorno = usarEntorno()
const nuevoReceptor = usarReceptores()

const SIN_COORDENADAS = 'https://maps.app.goo.gl/aBcD1234'
/** Everything there is to warn of at once, but a place far from a municipality that is unknown. */
const dudosa = () => ({
  ...sinDestino(),
  telefono: '+50211111111',
  departamento: 'Guatemala',
  municipio: 'Vila Nueva',
  maps_url: SIN_COORDENADAS,
})
const SUYAS = [
  {
    codigo: 'telefono_dudoso',
    campo: '/telefono',
    mensaje: expect.stringMatching(/plan de numeración.*revise/),
    sugerencia: null,
  },
  {
    codigo: 'enlace_sin_coordenadas',
    campo: '/maps_url',
    mensaje: expect.stringMatching(/no lleva coordenadas.*dé lat y lng/),
    sugerencia: null,
  },
  {
    codigo: 'destino_desconocido',
    campo: '/municipio',
    mensaje: expect.stringMatching(/«Vila Nueva».*revise/),
    sugerencia: { departamentos: [], municipios: expect.arrayContaining(['Villa Nueva']) },
  },
]

describe('warnings of a guide', () => {
  it('say what looks wrong, in which field, and what was perhaps meant, the same wherever the guide is told', async () => {
    const { api } = await entorno.nuevoComercio()
    const creada = await api.guias.crear(dudosa())
    expect(creada.advertencias).toEqual(SUYAS)
    const { eventos: _eventos, ...detalle } = await api.guias.obtener(creada.guia)
    expect(detalle).toEqual(creada)
    expect((await api.guias.listar()).datos).toEqual([creada])
    const { resultados } = await api.guias.crearLote({ guias: [dudosa(), unaGuia()] })
    expect(resultados).toMatchObject([{ advertencias: creada.advertencias }, { advertencias: [] }])
  })

  it('name a member of the guide, and one of a place said later, too', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia({ departamento: 'Atlántida', municipio: 'Olimpo' }))
    const confirmada = await api.guias.confirmarUbicacion(guia, { maps_url: SIN_COORDENADAS })
    expect(confirmada.advertencias).toMatchObject([
      { codigo: 'enlace_sin_coordenadas', campo: '/ubicacion/maps_url' },
      { codigo: 'destino_desconocido', campo: '/municipio' },
    ])
    const { lat, lng } = { lat: 16.93, lng: -89.89 }
    const lejana = await api.guias.crear(unaGuia({ lat, lng }))
    for (const una of [confirmada, lejana, await api.guias.crear(dudosa())]) {
      expect(una.advertencias).not.toEqual([])
      for (const { campo } of una.advertencias) {
        const senalado = campo!
          .slice(1)
          .split('/')
          .reduce((nodo, paso) => (nodo as Record<string, unknown>)[paso], una as unknown)
        expect(senalado, campo!).toBeTruthy()
      }
    }
  })

  it('are in a webhook what they were with its event, byte by byte, however late it is sent again', async () => {
    const { api } = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    const { webhook } = await api.webhooks.crear({ url: receptor.url, tipos: ['guia.aceptado'] })
    const creada = await api.guias.crear(dudosa())
    const [primero] = await hasta(async () => receptor.recibidos.length > 0 && receptor.recibidos)
    expect(primero!.json.datos.guia.advertencias).toEqual(SUYAS)
    const corregida = await api.guias.confirmarUbicacion(creada.guia, { lat: 14.5, lng: -90.6 })
    expect(corregida.advertencias.map(({ codigo }) => codigo)).toEqual(['telefono_dudoso', 'destino_desconocido'])
    await api.webhooks.reenviar(webhook, `ent_${webhook.slice(3)}_${creada.guia}_1`)
    const [, segundo] = await hasta(async () => receptor.recibidos.length > 1 && receptor.recibidos)
    expect(segundo!.cuerpo).toBe(primero!.cuerpo)
  })
})
