import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { useReceivers } from '../webhooks/receiver.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()

/** Where the guides of these tests go. */
const A = { lat: 14.71889, lng: -90.64417 }
const LINK_WITHOUT_COORDINATES = 'https://maps.app.goo.gl/aBcD1234'
/** Everything there is to warn of at once, but a place far from a municipality that is unknown. */
const doubtfulGuia = () => ({
  ...buildGuiaWithoutDestino(),
  telefono: '+50211111111',
  departamento: 'Guatemala',
  municipio: 'Vila Nueva',
  maps_url: LINK_WITHOUT_COORDINATES,
})
const OWN_VALUES = [
  {
    codigo: 'telefono_dudoso',
    campo: '/telefono',
    mensaje: expect.stringMatching(/plan de numeración.*revise/),
    sugerencia: null,
  },
  {
    codigo: 'enlace_sin_coordenadas',
    campo: '/maps_url',
    mensaje: expect.stringMatching(/no marca un punto.*un pin.*acerque el mapa.*dé lat y lng/),
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
    const { api } = await environment.createComercio()
    const created = await api.guias.crear(doubtfulGuia())
    expect(created.advertencias).toEqual(OWN_VALUES)
    const { eventos: _eventos, ...detalle } = await api.guias.obtener(created.guia)
    expect(detalle).toEqual(created)
    expect((await api.guias.listar()).datos).toEqual([created])
    const { resultados } = await api.guias.crearLote({ guias: [doubtfulGuia(), buildGuia()] })
    expect(resultados).toMatchObject([{ advertencias: created.advertencias }, { advertencias: [] }])
  })

  it.each([
    [
      'Guatemala',
      'Cobán',
      '/municipio',
      /«Cobán» no es un municipio de Guatemala, sino de Alta Verapaz: revise/,
      ['Alta Verapaz'],
      [],
    ],
    ['Guatemala', 'La Unión', '/municipio', /sino de Huehuetenango o Zacapa: revise/, ['Huehuetenango', 'Zacapa'], []],
    [
      'Guatemala',
      'Zona 10',
      '/municipio',
      /«Zona 10» no es un municipio: escriba el suyo \(Guatemala\), y la zona en direccion/,
      [],
      ['Guatemala'],
    ],
    [
      'Guatemala',
      'Capital',
      '/municipio',
      /«Capital» no es un municipio: escriba el suyo \(Guatemala\)/,
      [],
      ['Guatemala'],
    ],
    [
      'Zona 10',
      'Guatemala',
      '/departamento',
      /escriba el suyo \(Guatemala\) y su municipio \(Guatemala\), y la zona/,
      ['Guatemala'],
      ['Guatemala'],
    ],
    [
      'Capital',
      'zona 1',
      '/departamento',
      /escriba el suyo \(Guatemala\) y su municipio \(Guatemala\)/,
      ['Guatemala'],
      ['Guatemala'],
    ],
    [
      'Mixco',
      'zona 1',
      '/departamento',
      /«Mixco» no es un departamento, sino un municipio de Guatemala/,
      ['Guatemala'],
      ['Mixco'],
    ],
    [
      'Cobán',
      'Alta Verapaz',
      '/departamento',
      /«Cobán» es un municipio y «Alta Verapaz» su departamento/,
      ['Alta Verapaz'],
      ['Cobán'],
    ],
    [
      'Guatemla',
      'Mixco',
      '/departamento',
      /«Guatemla» no está en el catálogo: revise cómo está escrito/,
      ['Guatemala'],
      ['Mixco'],
    ],
  ] as const)(
    'tell of %s, %s what is wrong',
    async (departamento, municipio, field, mensaje, departamentos, municipios) => {
      const { api } = await environment.createComercio()
      const { advertencias } = await api.guias.crear({ ...buildGuiaWithoutDestino(), departamento, municipio })
      expect(advertencias).toEqual([
        {
          codigo: 'destino_desconocido',
          campo: field,
          mensaje: expect.stringMatching(mensaje),
          sugerencia: { departamentos, municipios },
        },
      ])
      // The suggestion is a destination of the catalogue.
      const [departamentoName = departamento] = departamentos
      const [other = municipio] = municipios
      expect(
        (await api.guias.crear({ ...buildGuiaWithoutDestino(), departamento: departamentoName, municipio: other }))
          .advertencias,
      ).toEqual([])
    },
  )

  it('say of a short Plus Code that it is no point, and nothing of a full one, whose cell is the place', async () => {
    const { api } = await environment.createComercio()
    const destino = { departamento: 'Guatemala', municipio: 'Guatemala' }
    const wholeGuia = await api.guias.crear({
      ...buildGuiaWithoutDestino(),
      ...destino,
      maps_url: 'https://plus.codes/766FHFV7+2R',
    })
    expect(wholeGuia).toMatchObject({
      advertencias: [],
      ubicacion: { estado: 'confirmada', origen: 'maps_url', lat: 14.592563, lng: -90.535437 },
    })
    const shortOne = await api.guias.crear({
      ...buildGuiaWithoutDestino(),
      ...destino,
      maps_url: 'https://plus.codes/HFV7+2R',
    })
    expect(shortOne).toMatchObject({
      advertencias: [{ codigo: 'enlace_sin_coordenadas' }],
      ubicacion: { estado: 'confirmada', lat: null, lng: null },
    })
    const confirmed = await api.guias.confirmarUbicacion(shortOne.guia, {
      maps_url: 'https://www.google.com/maps/place/766FHFV7%2B2R',
    })
    expect(confirmed).toMatchObject({ advertencias: [], ubicacion: { lat: 14.592563, lng: -90.535437 } })
  })

  it('name a member of the guide, and one of a place said later, too', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ departamento: 'Atlántida', municipio: 'Olimpo' }))
    const confirmed = await api.guias.confirmarUbicacion(guia, { maps_url: LINK_WITHOUT_COORDINATES })
    expect(confirmed.advertencias).toMatchObject([
      { codigo: 'enlace_sin_coordenadas', campo: '/ubicacion/maps_url' },
      { codigo: 'destino_desconocido', campo: '/municipio' },
    ])
    const { lat, lng } = { lat: 16.93, lng: -89.89 }
    const lejana = await api.guias.crear(buildGuia({ lat, lng }))
    for (const one of [confirmed, lejana, await api.guias.crear(doubtfulGuia())]) {
      expect(one.advertencias).not.toEqual([])
      for (const { campo: field } of one.advertencias) {
        const flaggedValue = field!
          .slice(1)
          .split('/')
          .reduce((node, step) => (node as Record<string, unknown>)[step], one as unknown)
        expect(flaggedValue, field!).toBeTruthy()
      }
    }
  })

  it.each([
    [{ lat: 0, lng: 0 }, 'coordenadas_en_cero', /lat y lng son 0/, null],
    [
      { lat: 14.71889, lng: 90.64417 },
      'coordenadas_sin_signo',
      /a 167\d\d km de San Juan Sacatepéquez: ¿falta el signo − en lng\?/,
      A,
    ],
    [{ lat: -14.71889, lng: -90.64417 }, 'coordenadas_sin_signo', /¿falta el signo − en lat\?/, A],
    [
      { lat: 16.93, lng: -89.89 },
      'fuera_del_departamento',
      /a 2\d\d km de San Juan Sacatepéquez: revise el departamento/,
      null,
    ],
    [{ maps_url: 'https://www.google.com/maps?q=14.71889,90.64417' }, 'coordenadas_sin_signo', /en lng\?/, A],
  ])(
    'tell an implausible place, %o, which is confirmed all the same, without a message',
    async (place, codigo, mensaje, sugerencia) => {
      const { api, id } = await environment.createComercio()
      const created = await api.guias.crear({ ...buildGuiaWithoutDestino(), ...place })
      const advertencia = { codigo, campo: '/ubicacion', mensaje: expect.stringMatching(mensaje), sugerencia }
      expect([created.ubicacion.estado, created.advertencias]).toEqual(['confirmada', [advertencia]])
      expect((await api.guias.obtener(created.guia)).advertencias).toEqual([advertencia])
      expect(await environment.db.prisma.mensaje.count({ where: { comercio_id: id } })).toBe(0)
      if (sugerencia === null) return
      const corrected = await api.guias.confirmarUbicacion(created.guia, sugerencia)
      expect(corrected.advertencias).toEqual([])
    },
  )

  it('tell latitude and longitude that are swapped, in the place and where they are out of range', async () => {
    const { api, llave } = await environment.createComercio()
    const guia = {
      ...buildGuiaWithoutDestino({ departamento: 'San Salvador', municipio: 'Soyapango' }),
      lat: -89.14,
      lng: 13.71,
    }
    const { advertencias } = await api.guias.crear(guia)
    const mensaje = expect.stringMatching(/km de Soyapango: ¿lat y lng al revés\?/)
    expect(advertencias).toEqual([
      { codigo: 'coordenadas_invertidas', campo: '/ubicacion', mensaje, sugerencia: { lat: 13.71, lng: -89.14 } },
    ])
    // West of -90°, the swapped latitude is out of range, so that the guide is refused with the same suggestion.
    const invertidas = { lat: -90.64417, lng: 14.71889 }
    const cases: [ruta: string, cuerpo: object, campo: string][] = [
      ['/api/v1/guias', { ...buildGuia(), ...invertidas }, '/lat'],
      ['/api/v1/guias', { ...buildGuia(), recogida: { ...invertidas } }, '/recogida/lat'],
      ['/api/v1/guias', { ...buildGuia(), lat: 90.64417, lng: 14.71889 }, '/lat'],
    ]
    for (const [path, body, field] of cases) {
      const fuera = await environment.request('POST', path, { llave, body })
      const message = expect.stringMatching(/¿lat y lng al revés\? Quizá quiso decir 14\.71889, -90\.64417\.$/)
      const fault = { campo: field, codigo: 'fuera_de_rango', mensaje: message, sugerencia: A }
      expect([fuera.status, fuera.body.errores]).toEqual([422, [fault]])
    }
    const lote = { guias: [{ ...buildGuia(), ...invertidas }] }
    const { body } = await environment.request('POST', '/api/v1/guias/bulk', { llave, body: lote })
    expect(body.resultados[0].error.errores).toMatchObject([{ campo: '/lat', sugerencia: A }])
    // Exchanged or not, these are nowhere near.
    for (const far of [
      { lat: 120, lng: 50 },
      { lat: 91, lng: 91 },
    ]) {
      const nothing = await environment.request('POST', '/api/v1/guias', { llave, body: { ...buildGuia(), ...far } })
      expect(nothing.body.errores).toEqual([
        { campo: '/lat', codigo: 'fuera_de_rango', mensaje: expect.stringMatching(/por ejemplo 14\.6349$/) },
      ])
    }
  })

  it('tell a landline that would get the message, until the place is known without it', async () => {
    const { api } = await environment.createComercio()
    const created = await api.guias.crear(buildGuiaWithoutDestino({ telefono: '2222 2222' }))
    expect([created.ubicacion.estado, created.advertencias]).toEqual([
      'solicitada',
      [
        {
          codigo: 'telefono_fijo',
          campo: '/telefono',
          mensaje: expect.stringMatching(/es un teléfono fijo/),
          sugerencia: null,
        },
      ],
    ])
    const { lat, lng } = buildGuia()
    expect((await api.guias.confirmarUbicacion(created.guia, { lat: lat!, lng: lng! })).advertencias).toEqual([])
    const codigos = async (telefono: string, hasPlace: boolean) =>
      (
        await api.guias.crear(hasPlace ? buildGuia({ telefono }) : buildGuiaWithoutDestino({ telefono }))
      ).advertencias.map(({ codigo }) => codigo)
    expect(await codigos('2222 2222', true)).toEqual([])
    expect(await codigos('3148 1676', false)).toEqual([])
    expect(await codigos('+34 912 345 678', false)).toEqual(['telefono_fijo'])
    expect(await codigos('+34 612 345 678', false)).toEqual([])
  })

  it('are in a webhook what they were with its event, byte by byte, however late it is sent again', async () => {
    const { api } = await environment.createComercio()
    const receptor = await openReceiver()
    const { webhook } = await api.webhooks.crear({ url: receptor.url, tipos: ['guia.aceptado'] })
    const created = await api.guias.crear(doubtfulGuia())
    const [first] = await waitUntil(async () => receptor.receivedWebhooks.length > 0 && receptor.receivedWebhooks)
    expect(first!.json.datos.guia.advertencias).toEqual(OWN_VALUES)
    const corrected = await api.guias.confirmarUbicacion(created.guia, { lat: 14.5, lng: -90.6 })
    expect(corrected.advertencias.map(({ codigo }) => codigo)).toEqual(['telefono_dudoso', 'destino_desconocido'])
    await api.webhooks.reenviar(webhook, `avi_${webhook.slice(3)}_${created.guia}_1`)
    const [, second] = await waitUntil(async () => receptor.receivedWebhooks.length > 1 && receptor.receivedWebhooks)
    expect(second!.body).toBe(first!.body)
  })
})
