import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  base32AlAzar,
  crearGeneradorDeIds,
  menorId,
  normalizarCodigoDeGuia,
  nuevoCodigoDeGuia,
  verificador,
} from '../server/codigos/codigos.ts'
import { ErrorConfig, leerConfig } from '../server/config/config.ts'
import { leerDocumento } from '../server/contrato/contrato.ts'
import { redDe } from '../server/http/red.ts'
import { crearCursores } from '../server/listas/cursor.ts'
import { crearSecretos } from '../server/secretos.ts'
import { leerTelefono } from '../server/telefonos/telefono.ts'
import { leerInstante } from '../server/tiempo/instante.ts'

describe('codes of guides', () => {
  it('agree with the vectors of the contract', () => {
    const vectores = leerDocumento().components.schemas.CodigoDeGuia!['x-vectores'] as {
      escrito: string
      guia: string | null
    }[]
    expect(vectores.length).toBeGreaterThan(5)
    for (const { escrito, guia } of vectores)
      expect([escrito, normalizarCodigoDeGuia(escrito) ?? null]).toEqual([escrito, guia])
  })

  it('find any single wrong character', () => {
    fc.assert(
      fc.property(fc.nat({ max: 11 }), fc.nat({ max: 30 }), (lugar, salto) => {
        const codigo = nuevoCodigoDeGuia()
        const alfabeto = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
        const otra = alfabeto[(alfabeto.indexOf(codigo[lugar]!) + 1 + salto) % 32]!
        expect(normalizarCodigoDeGuia(codigo.slice(0, lugar) + otra + codigo.slice(lugar + 1))).toBeUndefined()
        expect(normalizarCodigoDeGuia(codigo)).toBe(codigo)
      }),
    )
    expect(verificador(base32AlAzar(11, (n) => Buffer.alloc(n)))).toBe('0')
  })
})

describe('ids', () => {
  it('increase strictly, also within a millisecond and when the clock steps back', () => {
    let ahora = 1_800_000_000_000
    const nuevoId = crearGeneradorDeIds(() => new Date(ahora))
    const hechos = Array.from({ length: 10_000 }, (_, i) => {
      if (i === 5_000) ahora -= 60_000
      return nuevoId()
    })
    expect(hechos.map(({ id }) => id)).toEqual([...hechos.map(({ id }) => id)].sort())
    expect(new Set(hechos.map(({ id }) => id)).size).toBe(10_000)
    expect(hechos[0]!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('are at or above the lowest of their instant, and below the next', () => {
    const { id, creado_en } = crearGeneradorDeIds(() => new Date())()
    expect(menorId(creado_en) <= id && id < menorId(new Date(creado_en.getTime() + 1))).toBe(true)
    expect(menorId(new Date(-5))).toBe('00000000-0000-7000-0000-000000000000')
  })
})

describe('configuration', () => {
  const base = { DATABASE_URL: 'postgres://a:b@localhost/c', MASTER_KEYS: Buffer.alloc(32).toString('base64') }

  it('has defaults for everything', () => {
    expect(leerConfig({}, '/proyecto')).toEqual({
      port: 3000,
      host: '127.0.0.1',
      baseDeDatos: { tipo: 'embebida' },
      dataDir: '/proyecto/.datos',
      publicUrl: undefined,
      logLevel: 'info',
      masterKeys: undefined,
      workers: true,
      metricsPort: undefined,
      webhooksLoopback: true,
      retencionDeWebhooks: 90,
      minutosDeEnlaces: 15,
      retencionDePruebas: 730,
      nombreDeEmpresa: 'Servicio de mensajería',
      zonaHoraria: undefined,
      almacenamiento: { tipo: 'local' },
      mensajeria: { tipo: 'buzon' },
      horasDeSolicitud: 72,
      retencionDeUbicaciones: 365,
      proxies: 0,
      mosaicos: { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png', atribucion: '© OpenStreetMap' },
    })
    expect(
      leerConfig({ ...base, WORKERS: '0', METRICS_PORT: '9464', WEBHOOK_RETENTION_DAYS: '30' }, '/'),
    ).toMatchObject({ workers: false, metricsPort: 9464, webhooksLoopback: false, retencionDeWebhooks: 30 })
    expect(leerConfig({ ...base, PUBLIC_URL: 'https://guias.example.com/' }, '/')).toMatchObject({
      baseDeDatos: { tipo: 'externa', url: base.DATABASE_URL },
      publicUrl: 'https://guias.example.com',
    })
  })

  it('knows where files are kept, and names each fault of it', () => {
    const s3 = { STORAGE: 's3', S3_BUCKET: 'mis-guias', S3_REGION: 'sa-east-1' }
    const leer = (env: Record<string, string>) => {
      const { almacenamiento } = leerConfig(env, '/')
      return almacenamiento.tipo === 's3' ? almacenamiento : undefined
    }
    expect(leer(s3)).toEqual({
      tipo: 's3',
      bucket: 'mis-guias',
      region: 'sa-east-1',
      endpoint: undefined,
      enLaRuta: false,
      accessKeyId: undefined,
      secretAccessKey: undefined,
      prefijo: '',
    })
    const propio = { S3_ENDPOINT: 'http://minio:9000/', S3_PATH_STYLE: '1', S3_PREFIX: 'datos/guias' }
    const llave = { S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' }
    expect(leer({ STORAGE: 's3', S3_BUCKET: 'mis-guias', ...propio, ...llave })).toEqual({
      tipo: 's3',
      bucket: 'mis-guias',
      region: 'us-east-1',
      endpoint: 'http://minio:9000',
      enLaRuta: true,
      accessKeyId: 'a',
      secretAccessKey: 'b',
      prefijo: 'datos/guias/',
    })
    const fallas = (env: Record<string, string>) => {
      try {
        leerConfig(env, '/')
        return []
      } catch (error) {
        return (error as ErrorConfig).fallas.map((falla) => falla.split(':')[0]).sort()
      }
    }
    expect(fallas({ STORAGE: 'nube' })).toEqual(['STORAGE'])
    expect(fallas({ STORAGE: 's3' })).toEqual(['S3_BUCKET', 'S3_REGION'])
    expect(fallas({ ...s3, S3_ACCESS_KEY_ID: 'a' })).toEqual(['S3_SECRET_ACCESS_KEY'])
    expect(fallas({ ...s3, S3_SECRET_ACCESS_KEY: 'a' })).toEqual(['S3_ACCESS_KEY_ID'])
    const malas = {
      S3_BUCKET: 'Mis Guías',
      S3_ENDPOINT: 'ftp://x/y',
      S3_PATH_STYLE: 'sí',
      S3_PREFIX: '../x',
      S3_REGION: '!',
    }
    expect(fallas({ STORAGE: 's3', ...malas })).toEqual(Object.keys(malas).sort())
    // What isn't used isn't asked for.
    expect(fallas({ S3_BUCKET: 'Mis Guías' })).toEqual([])
  })

  it('tells every fault at once', () => {
    const malo = {
      PORT: '70000',
      HOST: 'a b',
      DATABASE_URL: 'mysql://x',
      LOG_LEVEL: 'mucho',
      PUBLIC_URL: 'guias',
      MASTER_KEYS: 'abc',
      PROOF_RETENTION_DAYS: '0',
      COURIER_NAME: 'x'.repeat(81),
      TIME_ZONE: 'Marte/Olimpo',
    }
    const error = (() => {
      try {
        return leerConfig(malo, '/')
      } catch (e) {
        return e
      }
    })()
    expect(error).toBeInstanceOf(ErrorConfig)
    expect((error as ErrorConfig).fallas.map((falla) => falla.split(':')[0]).sort()).toEqual(Object.keys(malo).sort())
    expect(() => leerConfig({ DATABASE_URL: base.DATABASE_URL }, '/')).toThrow(/MASTER_KEYS/)
  })
})

describe('cursors', () => {
  const viejo = randomBytes(32)
  const cursores = crearCursores(crearSecretos([viejo]))
  const ambito = { operacion: 'listar', dueno: 'uno', filtros: { estado: ['a'], nada: undefined } }

  it('come back as they went, and survive a new master key', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 4 }), (posicion) => {
        expect(cursores.descifrar(ambito, cursores.cifrar(ambito, posicion))).toEqual(posicion)
      }),
    )
    const despues = crearCursores(crearSecretos([randomBytes(32), viejo]))
    expect(despues.descifrar(ambito, cursores.cifrar(ambito, [1]))).toEqual([1])
    expect(() =>
      crearCursores(crearSecretos([randomBytes(32)])).descifrar(ambito, cursores.cifrar(ambito, [1])),
    ).toThrow()
  })

  it('open for nobody and nothing else', () => {
    const cursor = cursores.cifrar(ambito, ['secreto'])
    for (const otro of [
      { ...ambito, dueno: 'dos' },
      { ...ambito, operacion: 'otra' },
      { ...ambito, filtros: { estado: ['b'] } },
      { ...ambito, filtros: {} },
    ]) {
      expect(() => cursores.descifrar(otro, cursor)).toThrow()
    }
    fc.assert(fc.property(fc.string(), (texto) => void expect(() => cursores.descifrar(ambito, texto)).toThrow()))
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('secreto')
  })
})

describe('instants', () => {
  it.each([
    ['2026-11-20T15:04:05Z', '2026-11-20T15:04:05.000Z'],
    ['2026-11-20t15:04:05.5z', '2026-11-20T15:04:05.500Z'],
    ['2026-11-20T15:04:05.123456789-06:00', '2026-11-20T21:04:05.123Z'],
    ['2024-02-29T00:00:00+00:00', '2024-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ])('reads %s', (texto, iso) => expect(leerInstante(texto)?.toISOString()).toBe(iso))

  it.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-11-20',
    '2026-11-20 15:04:05Z',
    '2026-11-20T15:04:05',
    '2026-13-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-11-20T24:00:00Z',
    '20261120T150405Z',
    '',
  ])('refuses %s', (texto) => expect(leerInstante(texto)).toBeUndefined())
})

describe('phones', () => {
  it.each([
    ['+502 5555-1234', '+50255551234', false],
    ['+503 7123 4567', '+50371234567', false],
    ['+1 (212) 555-0100', '+12125550100', false],
    ['+5215512345678', '+525512345678', false],
    ['+50211111111', '+50211111111', true],
  ])('reads %s', (texto, e164, dudoso) => expect(leerTelefono(texto)).toEqual({ e164, dudoso }))

  it.each([
    '55551234',
    '+',
    '+502',
    '+50255',
    '+502555512345678',
    '+999 1234567',
    '+502 5555 1234 ext 5',
    'tel:+50255551234',
    '＋50255551234',
    '+502٥٥٥٥١٢٣٤',
  ])('refuses %s', (texto) => expect(leerTelefono(texto)).toHaveProperty('error'))
})

describe('the network of an address', () => {
  it('is the address itself in IPv4, and the first 64 bits in IPv6, however it is abbreviated', () => {
    for (const [una, otra] of [
      ['2001:db8::1', '2001:db8::2'],
      ['2600:3c00::f03c:91ff:fe00:1', '2600:3c00::f03c:91ff:fe00:2'],
      ['2001:db8:1::1', '2001:db8:1:0:5:6:7:8'],
      ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6'],
      ['::1', '::2'],
    ] as const)
      expect([una, redDe(una)]).toEqual([una, redDe(otra)])
    for (const [una, otra] of [
      ['198.51.100.1', '198.51.100.2'],
      ['::ffff:198.51.100.1', '::ffff:198.51.100.2'],
      ['2001:db8::1', '2001:db8:0:1::1'],
      ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ] as const)
      expect([una, redDe(una)]).not.toEqual([una, redDe(otra)])
    // Whatever a proxy says is only a key.
    for (const rara of ['', 'unknown', '::', '1:2:3:4:5:6:7:8:9::1:2', '[2001:db8::1]:80']) redDe(rara)
  })
})
