import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../server/platform/config/config.ts'
import { ownMasterKeys } from '../../server/startup/masterKeys.ts'

it('keeps the service’s own master keys in a file that only its owner reads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guias-llaves-'))
  try {
    const llaves = await ownMasterKeys(folder)
    expect(((await stat(join(folder, 'master_keys'))).mode & 0o777).toString(8)).toBe('600')
    expect(await ownMasterKeys(folder)).toEqual(llaves)
  } finally {
    await rm(folder, { recursive: true })
  }
})

describe('configuration', () => {
  const base = {
    DATABASE_URL: 'postgres://a:b@localhost/c',
    MASTER_KEYS: Buffer.alloc(32).toString('base64'),
    MESSAGING: 'buzon',
  }

  it('reads the mail server and its sender', () => {
    const readWith = (SMTP_URL: string, MAIL_FROM = 'Avisos@Ejemplo.com') =>
      readConfig({ SMTP_URL, MAIL_FROM }, '/').correo
    expect(readWith('smtp://a:b@correo.ejemplo.com:587')).toEqual({
      url: 'smtp://a:b@correo.ejemplo.com:587',
      desde: 'avisos@ejemplo.com',
    })
    expect(() => readWith('smtps://correo.ejemplo.com', '')).toThrow('MAIL_FROM: hace falta con SMTP_URL')
    expect(() => readWith('smtps://correo.ejemplo.com', 'Ana')).toThrow('MAIL_FROM: debe ser una dirección de correo')
    for (const bad of ['correo.ejemplo.com', 'https://ejemplo.com', 'smtp://', 'smtp://a?tls=no', 'smtp://a/b'])
      expect(() => readWith(bad)).toThrow('SMTP_URL: debe ser una dirección smtp(s)://')
  })

  it('has defaults for everything', () => {
    expect(readConfig({}, '/proyecto')).toEqual({
      port: 3000,
      host: '127.0.0.1',
      database: { tipo: 'embebida' },
      dataDir: '/proyecto/.datos',
      publicUrl: undefined,
      logLevel: 'info',
      masterKeys: undefined,
      workers: true,
      metricsPort: undefined,
      webhooksLoopback: true,
      buzon: true,
      webhookRetention: 90,
      linkMinutes: 15,
      personaRetention: 365,
      pruebaRetention: 730,
      brandName: 'Guías',
      brandLogo: undefined,
      brandColor: '#0b6b3a',
      helpPhone: null,
      repartidorReach: 'custodia',
      timeZone: undefined,
      restDays: { weekdays: [0], guatemala: true, days: [] },
      storage: { tipo: 'local' },
      mensajeria: { tipo: 'buzon' },
      correo: undefined,
      companyIdleMinutes: 30,
      cajaIdleMinutes: 15,
      comercioIdleHours: 168,
      requestHours: 72,
      ubicacionRetention: 365,
      proxies: 0,
      securityContact: undefined,
      networkRate: 50,
      operadorRate: 50,
      connectionsPerNetwork: 500,
      tiles: {
        url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png',
        selfHosted: false,
        attribution: '© OpenStreetMap',
      },
    })
    expect(
      readConfig({ ...base, WORKERS: '0', METRICS_PORT: '9464', WEBHOOK_RETENTION_DAYS: '30' }, '/'),
    ).toMatchObject({ workers: false, metricsPort: 9464, webhooksLoopback: false, webhookRetention: 30 })
    const backup = { BACKUP_DIR: 'respaldos', BACKUP_KEY_FILE: 'clave.txt' }
    expect(readConfig({ ...backup, BACKUP_DAYS: '7' }, '/srv').backup).toEqual({
      folder: '/srv/respaldos',
      keyFile: '/srv/clave.txt',
      dias: 7,
    })
    expect(() => readConfig({ ...base, ...backup, BACKUP_DAYS: '31' }, '/')).toThrow(
      /BACKUP_DAYS: debe ser un número de días de 1 a 30.*BACKUP_DIR: respalda la base embebida/s,
    )
    expect(readConfig({ ...base, PUBLIC_URL: 'https://guias.example.com/' }, '/')).toMatchObject({
      database: { tipo: 'externa', url: base.DATABASE_URL },
      publicUrl: 'https://guias.example.com',
    })
  })

  it('knows where files are kept, and names each fault of it', () => {
    const s3 = { STORAGE: 's3', S3_BUCKET: 'mis-guias', S3_REGION: 'sa-east-1' }
    const read = (env: Record<string, string>) => {
      const { storage } = readConfig(env, '/')
      return storage.tipo === 's3' ? storage : undefined
    }
    expect(read(s3)).toEqual({
      tipo: 's3',
      bucket: 'mis-guias',
      region: 'sa-east-1',
      endpoint: undefined,
      pathStyle: false,
      accessKeyId: undefined,
      secretAccessKey: undefined,
      prefix: '',
    })
    const own = { S3_ENDPOINT: 'http://minio:9000/', S3_PATH_STYLE: '1', S3_PREFIX: 'datos/guias' }
    const llave = { S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' }
    expect(read({ STORAGE: 's3', S3_BUCKET: 'mis-guias', ...own, ...llave })).toEqual({
      tipo: 's3',
      bucket: 'mis-guias',
      region: 'us-east-1',
      endpoint: 'http://minio:9000',
      pathStyle: true,
      accessKeyId: 'a',
      secretAccessKey: 'b',
      prefix: 'datos/guias/',
    })
    const faults = (env: Record<string, string>) => {
      try {
        readConfig(env, '/')
        return []
      } catch (error) {
        return (error as ConfigError).faults.map((fault) => fault.split(':')[0]).sort()
      }
    }
    expect(faults({ STORAGE: 'nube' })).toEqual(['STORAGE'])
    expect(faults({ STORAGE: 's3' })).toEqual(['S3_BUCKET', 'S3_REGION'])
    expect(faults({ ...s3, S3_ACCESS_KEY_ID: 'a' })).toEqual(['S3_SECRET_ACCESS_KEY'])
    expect(faults({ ...s3, S3_SECRET_ACCESS_KEY: 'a' })).toEqual(['S3_ACCESS_KEY_ID'])
    const badCases = {
      S3_BUCKET: 'Mis Guías',
      S3_ENDPOINT: 'ftp://x/y',
      S3_PATH_STYLE: 'sí',
      S3_PREFIX: '../x',
      S3_REGION: '!',
    }
    expect(faults({ STORAGE: 's3', ...badCases })).toEqual(Object.keys(badCases).sort())
    // What isn't used isn't asked for.
    expect(faults({ S3_BUCKET: 'Mis Guías' })).toEqual([])
  })

  it('reads a brand: its colour can be read, its telephone is written as people do', () => {
    const read = (env: Record<string, string>) => readConfig(env, '/srv')
    const mark = { BRAND_COLOR: '#1A4FA0', BRAND_LOGO: 'marca/logo.svg', SUPPORT_PHONE: '(+502) 2345-6789' }
    expect(read(mark)).toMatchObject({
      brandColor: '#1a4fa0',
      brandLogo: '/srv/marca/logo.svg',
      helpPhone: { e164: '+50223456789', visible: '2345 6789' },
    })
    expect(read({ BRAND_LOGO: 'https://marca.example/logo.png' }).brandLogo).toBe('https://marca.example/logo.png')
    const fault = 'el contraste de #ffcc00 con el blanco es 1.51 y hace falta 4.5; el más parecido que sirve es #917300'
    expect(() => read({ BRAND_COLOR: '#FFCC00' })).toThrow(`BRAND_COLOR: ${fault}`)
    expect(read({ BRAND_COLOR: '#917300' }).brandColor).toBe('#917300')
    expect(() => read({ SUPPORT_PHONE: '2345 6789' })).toThrow(/SUPPORT_PHONE: .*código de país/)
  })

  it('reads the days without deliveries, and says how they are written', () => {
    const read = (REST_DAYS: string) => readConfig({ REST_DAYS }, '/').restDays
    expect(read('none')).toEqual({ weekdays: [], guatemala: false, days: [] })
    expect(read('domingo, 12-24')).toEqual({ weekdays: [0], guatemala: false, days: ['12-24'] })
    expect(() => read('24 de diciembre')).toThrow(
      'REST_DAYS: debe ser none, o días separados por comas: domingo, guatemala (sus feriados), 12-24 (cada año), 2026-12-24',
    )
  })

  it('tells every fault at once', () => {
    const bad = {
      PORT: '70000',
      HOST: 'a b',
      DATABASE_URL: 'mysql://x',
      LOG_LEVEL: 'mucho',
      MESSAGING: 'correo',
      PUBLIC_URL: 'guias',
      MASTER_KEYS: 'abc',
      PROOF_RETENTION_DAYS: '0',
      BRAND_NAME: 'x'.repeat(81),
      BRAND_COLOR: 'verde',
      SUPPORT_PHONE: '2345 6789',
      TIME_ZONE: 'Marte/Olimpo',
      REST_DAYS: 'navidad',
    }
    const error = (() => {
      try {
        return readConfig(bad, '/')
      } catch (e) {
        return e
      }
    })()
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as ConfigError).faults.map((fault) => fault.split(':')[0]).sort()).toEqual(Object.keys(bad).sort())
    expect(() => readConfig({ DATABASE_URL: base.DATABASE_URL }, '/')).toThrow(/MASTER_KEYS/)
  })

  it('asks how recipients are messaged where there is a DATABASE_URL, and not in the embedded default', () => {
    const { MESSAGING: _, ...caseWithout } = base
    const fault = /^ {2}- MESSAGING: hace falta cuando hay DATABASE_URL; ponga «whatsapp» .* o «buzon» /m
    expect(() => readConfig(caseWithout, '/')).toThrow(fault)
    expect(() => readConfig({ ...caseWithout, MESSAGING: '  ' }, '/')).toThrow(fault)
    expect(readConfig(base, '/').mensajeria).toEqual({ tipo: 'buzon' })
    expect(readConfig({}, '/').mensajeria).toEqual({ tipo: 'buzon' })
  })

  it('refuses a mailbox or webhooks to loopback that are asked for where other machines come in', () => {
    const faults = (env: Record<string, string>) => {
      try {
        readConfig(env, '/')
        return []
      } catch (error) {
        return (error as ConfigError).faults
      }
    }
    for (const environment of [{}, base])
      for (const name of ['MAILBOX', 'WEBHOOKS_LOOPBACK']) {
        const readWith = (env: Record<string, string>) => faults({ ...environment, [name]: '1', ...env })
        expect(readWith({ PUBLIC_URL: 'https://guias.example' })).toEqual([
          `${name}: solo vale en la propia máquina y PUBLIC_URL=https://guias.example la abre a otras; quítela, o quite esa otra`,
        ])
        expect(readWith({ TRUST_PROXY: '1' })).toEqual([
          expect.stringContaining(`${name}: solo vale en la propia máquina y TRUST_PROXY=1 la abre a otras`),
        ])
        expect(readWith({ PUBLIC_URL: 'http://10.0.0.7', TRUST_PROXY: '2' })).toEqual([
          expect.stringContaining('PUBLIC_URL=http://10.0.0.7 y TRUST_PROXY=2'),
        ])
        for (const PUBLIC_URL of ['http://localhost:8080', 'https://127.0.0.1/guias', 'http://[::1]:3000'])
          expect(readWith({ PUBLIC_URL, TRUST_PROXY: '0' })).toEqual([])
        expect(readWith({ [name]: '0', TRUST_PROXY: '1' })).toEqual([])
      }
  })
})
