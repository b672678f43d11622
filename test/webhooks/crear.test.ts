import { ErrorConflicto, ErrorValidacion, Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { apiFault, collectCodes, nobody, readFailureCode, useWebhooks, type WebhookCreationData } from './webhooks.ts'

const { environment, openReceiver, create, secretos } = useWebhooks()

describe('POST /api/v1/webhooks', () => {
  it('creates an endpoint for every type of event and shows its secret once', async () => {
    const comercio = await environment.createComercio()
    const { url } = await openReceiver()
    const {
      datos: created,
      estadoHttp: status,
      cabeceras: headers,
    } = await comercio.api.webhooks.crear({ url }).conRespuesta()
    secretos.push(created.secreto)
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/api/v1/webhooks/${created.webhook}`)
    const { secreto, ...rest } = created
    expect(secreto).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(rest).toEqual({
      webhook: expect.stringMatching(/^wh_[0-9A-Z]{12}$/),
      url,
      tipos: ['*'],
      descripcion: null,
      estado: 'activo',
      comprobado_en: created.creado_en,
      motivo: null,
      estado_en: rest.creado_en,
      fallas: null,
      secretos: [{ version: 1, creado_en: rest.creado_en, vence_en: null }],
      modo: 'test',
      creado_en: expect.any(String),
      actualizado_en: rest.creado_en,
    })
    const path = headers.get('location')!
    expect((await environment.request('GET', path, { llave: comercio.llave })).body).toEqual(rest)
    expect((await comercio.api.webhooks.listar()).datos).toEqual([rest])
  })

  it('keeps the types and the description, and the address in its normal form', async () => {
    const { api } = await environment.createComercio()
    const tipos: NonNullable<WebhookCreationData['tipos']> = ['guia.*', 'ubicacion.confirmada', 'webhook.deshabilitado']
    const created = await create(
      { api },
      { url: 'HTTPS://Tienda.Ejemplo.COM:443/Guías?a=1' },
      { tipos, descripcion: 'Tienda en línea ✓' },
    )
    expect(created).toMatchObject({
      url: 'https://tienda.ejemplo.com/Gu%C3%ADas?a=1',
      tipos,
      descripcion: 'Tienda en línea ✓',
    })
    // The same address, written otherwise, is the same.
    expect(await readFailureCode(api.webhooks.crear({ url: 'https://tienda.ejemplo.com/Gu%C3%ADas?a=1' }))).toBe(
      'webhook_repetido',
    )
  })

  it('refuses an address twice, and names the endpoint that has it', async () => {
    const comercio = await environment.createComercio()
    const destino = nobody()
    const { webhook } = await create(comercio, destino)
    const error = await apiFault(comercio.api.webhooks.crear(destino))
    expect(error).toBeInstanceOf(ErrorConflicto)
    expect([error.estadoHttp, error.codigo, error.message]).toEqual([
      409,
      'webhook_repetido',
      expect.stringContaining(webhook),
    ])
    // Another merchant's, and another mode's, is another matter.
    await create(await environment.createComercio(), destino)
    expect(await collectCodes('webhook', comercio.api.webhooks.listar())).toEqual([webhook])
  })

  it('takes exactly one of many equal ones at once', async () => {
    const { api } = await environment.createComercio()
    for (let round = 0; round < 5; round++) {
      const destino = nobody()
      const codigos = await Promise.all(
        Array.from({ length: round === 0 ? 10 : 2 }, () =>
          api.webhooks.crear(destino).then(
            () => '201',
            ({ codigo }) => codigo,
          ),
        ),
      )
      expect(codigos.filter((codigo) => codigo === '201')).toHaveLength(1)
      expect(codigos.filter((codigo) => codigo === 'webhook_repetido')).toHaveLength(codigos.length - 1)
    }
    expect(await collectCodes('webhook', api.webhooks.listar())).toHaveLength(5)
  })

  it('takes twenty per mode, and another when one is gone', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    for (let i = 0; i < 20; i++) await create(comercio, nobody())
    const error = await apiFault(api.webhooks.crear(nobody()))
    expect([error.estadoHttp, error.codigo]).toEqual([409, 'limite_de_webhooks'])
    const alive = new Guias({
      llave: await environment.createLlave(comercio, { modo: 'live' }),
      baseUrl: environment.url,
    })
    await create({ api: alive }, { url: 'https://tienda.ejemplo.com/' })
    const [first] = await collectCodes('webhook', api.webhooks.listar())
    await api.webhooks.eliminar(first!)
    await create(comercio, nobody())
    expect(await readFailureCode(api.webhooks.crear(nobody()))).toBe('limite_de_webhooks')
  })

  it('leaves twenty of thirty at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { api } = await environment.createComercio()
      const codigos = await Promise.all(
        Array.from({ length: 30 }, () =>
          api.webhooks.crear(nobody()).then(
            () => '201',
            ({ codigo }) => codigo,
          ),
        ),
      )
      expect((await collectCodes('webhook', api.webhooks.listar())).length).toBe(20)
      expect(codigos.filter((codigo) => codigo === '201')).toHaveLength(20)
      expect(codigos.filter((codigo) => codigo === 'limite_de_webhooks')).toHaveLength(10)
    }
  })

  const HOSTILES = [
    'http://tienda.ejemplo.com/',
    'ftp://tienda.ejemplo.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'tienda.ejemplo.com',
    '//tienda.ejemplo.com/',
    'https:tienda.ejemplo.com',
    'https:\\\\tienda.ejemplo.com\\',
    'https://',
    'https://usuario:clave@tienda.ejemplo.com/',
    'https://tienda.ejemplo.com@127.0.0.1/',
    'https://@tienda.ejemplo.com/',
    'https://tienda.ejemplo.com/#fragmento',
    'https://tienda.ejemplo.com:22/',
    'https://tienda.ejemplo.com:80/',
    'https://tienda.ejemplo.com:1023/',
    'https://tienda.ejemplo.com:0/',
    'https://tienda.ejemplo.com:65536/',
    'https://tienda.ejemplo.com/ espacio',
    ' https://tienda.ejemplo.com/',
    'https://tienda.ejemplo.com/\r\nX-Otra: 1',
    'https://tienda.ejemplo.com/\u202egro',
    'https://tien\u00adda.ejemplo.com/',
    'https://localhost/',
    'https://localhost:8443/',
    'https://LOCALHOST./',
    'https://foo.localhost/',
    'https://impresora.local/',
    'https://db.internal/',
    'https://router.home.arpa/',
    'https://algo.test/',
    'https://algo.invalid/',
    'https://algo.onion/',
    'https://intranet/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://①②⑦.0.0.1/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://168.63.129.16/',
    'https://192.0.2.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[ff02::1]/',
    'https://interno.ejemplo.com/',
    'https://mixto.ejemplo.com/',
    'https://metadatos.ejemplo.com/',
    'https://-mal-.ejemplo.com/',
    `https://${'a'.repeat(64)}.ejemplo.com/`,
    `https://tienda.ejemplo.com/${'ñ'.repeat(1_000)}`,
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://192.168.1.1:8080/',
  ]

  it('refuses addresses that lead elsewhere than to a public https server', async () => {
    const { api } = await environment.createComercio()
    const { webhook, ...before } = await api.webhooks.crear(nobody())
    secretos.push(before.secreto)
    for (const url of HOSTILES) {
      for (const request of [() => api.webhooks.crear({ url }), () => api.webhooks.cambiar(webhook, { url })]) {
        const error = await apiFault(request())
        expect([url, error.estadoHttp, error.codigo]).toEqual([url, 422, 'url_no_permitida'])
        expect(error.errores).toMatchObject([{ campo: '/url', codigo: 'valor_no_admitido' }])
      }
    }
    expect(await api.webhooks.listar()).toMatchObject({ datos: [{ webhook, url: before.url }] })
  })

  it('refuses a name that does not resolve', async () => {
    const { api } = await environment.createComercio()
    const error = await apiFault(api.webhooks.crear({ url: 'https://no-existe.ejemplo.com/' }))
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect([error.estadoHttp, error.codigo, error.errores[0].campo]).toEqual([422, 'url_no_resuelve', '/url'])
    expect(error.message).toContain('no-existe.ejemplo.com')
  })

  it('lets http on loopback pass for test keys alone', async () => {
    const { api } = await environment.createComercio()
    for (const url of [
      'http://127.0.0.1:9/',
      'http://localhost:9/',
      'http://[::1]:9/',
      'http://127.0.0.1/',
      'http://127.8.8.8:22/',
    ]) {
      await create({ api }, { url })
    }
    const { api: alive } = await environment.createComercio('live')
    for (const url of ['http://127.0.0.1:9/', 'http://localhost:9/', 'http://[::1]:9/', 'https://localhost/']) {
      const error = await apiFault(alive.webhooks.crear({ url }))
      expect([url, error.estadoHttp, error.codigo]).toEqual([url, 422, 'url_no_permitida'])
    }
    expect((await alive.webhooks.listar()).datos).toEqual([])
    expect(await create({ api: alive }, { url: 'https://tienda.ejemplo.com/' })).toMatchObject({ modo: 'live' })
  })

  it.each<[string, object, string]>([
    ['a type that doesn’t exist', { tipos: ['guia.volando'] }, '/tipos/0'],
    ['a wildcard that doesn’t exist', { tipos: ['*', 'guia.en_*'] }, '/tipos/1'],
    ['no type', { tipos: [] }, '/tipos'],
    ['a type twice', { tipos: ['guia.*', 'guia.*'] }, '/tipos'],
    ['types that are no list', { tipos: 'guia.*' }, '/tipos'],
    ['an empty description', { descripcion: '' }, '/descripcion'],
    ['an invisible description', { descripcion: '\u200b' }, '/descripcion'],
    ['two lines', { descripcion: 'a\nb' }, '/descripcion'],
    ['a long description', { descripcion: 'a'.repeat(201) }, '/descripcion'],
    ['an unknown property', { secreto: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }, '/secreto'],
    ['a number for an address', { url: 7 }, '/url'],
    ['an empty address', { url: '' }, '/url'],
    ['a long address', { url: `https://tienda.ejemplo.com/${'a'.repeat(2_048)}` }, '/url'],
    ['no address', { url: undefined }, '/url'],
  ])('refuses %s', async (_description, datos, field) => {
    const { api } = await environment.createComercio()
    const error = await apiFault(api.webhooks.crear({ ...nobody(), ...datos } as never))
    expect([error.estadoHttp, error.codigo]).toEqual([422, 'validacion'])
    expect(error.errores.map((one: { campo: string }) => one.campo)).toContain(field)
    expect((await api.webhooks.listar()).datos).toEqual([])
  })
})
