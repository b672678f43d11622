import { isAbsolute, resolve } from 'node:path'
import type { ConfigDeS3 } from './archivos/almacenS3.ts'
import type { ConfigDeWhatsapp } from './mensajeria/whatsapp.ts'

export const NIVELES_DE_LOG = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Where the service keeps its data: a PostgreSQL of its own under `dataDir`, or somebody else's at `databaseUrl`. */
export type BaseDeDatos = { tipo: 'embebida' } | { tipo: 'externa'; url: string }

export interface Config {
  /** TCP port; 0 takes any free one. `PORT`, 3000. */
  port: number
  /** Address to listen on. `HOST`, 127.0.0.1. */
  host: string
  /** `DATABASE_URL`; unset: embedded PostgreSQL under `dataDir`. */
  baseDeDatos: BaseDeDatos
  /** Absolute folder of what the service keeps on disk. `DATA_DIR`, `.datos`. */
  dataDir: string
  /** Base of every link given out, without a final slash. `PUBLIC_URL`; undefined: the address listened on. */
  publicUrl: string | undefined
  /** `LOG_LEVEL`, info. */
  logLevel: (typeof NIVELES_DE_LOG)[number]
  /** 32-byte keys, the first is the present one. `MASTER_KEYS`; undefined in the embedded default, which makes its own. */
  masterKeys: readonly Buffer[] | undefined
  /** Whether background work runs in the API's process, too. `WORKERS`, 1; with 0, run `npm run worker` beside it. */
  workers: boolean
  /** TCP port, on `HOST`, for `/metrics`, `/healthz` and `/readyz`, without a key. `METRICS_PORT`; undefined: none. */
  metricsPort: number | undefined
  /** Whether test keys may register webhooks at `http` on loopback. `WEBHOOKS_LOOPBACK`; 1 in the embedded default, else 0. */
  webhooksLoopback: boolean
  /** How live recipients are asked for their place. `MESSAGING`, buzon (the local mailbox); whatsapp needs the `WHATSAPP_…` ones. */
  mensajeria: { canal: 'buzon' } | { canal: 'whatsapp'; whatsapp: ConfigDeWhatsapp }
  /** How long a recipient's link is good for, in hours from 1 to 720. `LOCATION_REQUEST_HOURS`, 72. */
  horasDeSolicitud: number
  /** How long places, links and phones of messages are kept after a guide's end, in days. `LOCATION_RETENTION_DAYS`, 365. */
  retencionDeUbicaciones: number
  /** How many reverse proxies stand before the service: whose `X-Forwarded-For` is believed. `TRUST_PROXY`, 0. */
  proxies: number
  /** Map tiles of the recipient's page, `{z}/{x}/{y}` in the address. `MAP_TILES_URL`, OpenStreetMap's; `none`: no map. */
  mosaicos: { url: string; atribucion: string } | null
  /** How long webhook deliveries that are over are kept, in days from 1 to 3650. `DELIVERY_RETENTION_DAYS`, 90. */
  retencionDeEntregas: number
  /** How long a signed link (a proof's files, labels) is good for, in minutes from 1 to 1440. `FILE_LINK_MINUTES`, 15. */
  minutosDeEnlaces: number
  /** How long proofs are kept after the delivery or the attempt, in days from 1 to 3650. `PROOF_RETENTION_DAYS`, 730. */
  retencionDePruebas: number
  /** The courier company, as its documents name it: 1 to 80 visible characters. `COURIER_NAME`, Servicio de mensajería. */
  nombreDeMensajeria: string
  /** Where files are kept. `STORAGE`, local (under `dataDir`); s3 needs the `S3_…` ones. */
  almacenamiento: { tipo: 'local' } | { tipo: 's3'; s3: ConfigDeS3 }
  /** IANA zone in which documents and pages tell times. `TIME_ZONE`; undefined: that of the destination's country. */
  zonaHoraria: string | undefined
}

/** All the faults of a configuration at once. */
export class ErrorConfig extends Error {
  readonly fallas: readonly string[]
  constructor(fallas: readonly string[]) {
    super(`La configuración no es válida:\n${fallas.map((falla) => `  - ${falla}`).join('\n')}`)
    this.name = 'ErrorConfig'
    this.fallas = fallas
  }
}

const PROTOCOLOS_PG = ['postgres:', 'postgresql:']

/** Reads the configuration from an environment. Pure; throws {@link ErrorConfig} naming every fault. */
export function leerConfig(env: Readonly<Record<string, string | undefined>>, cwd: string): Readonly<Config> {
  const fallas: string[] = []
  const leer: Leer = (nombre, porDefecto, interpretar) => {
    const texto = env[nombre]?.trim()
    if (!texto) return porDefecto
    const valor = interpretar(texto)
    if (!Array.isArray(valor) || !valor.every((falla) => typeof falla === 'string')) return valor as typeof porDefecto
    fallas.push(...valor.map((falla) => `${nombre}: ${falla}`))
    return porDefecto
  }

  const databaseUrl = leer<string | undefined>('DATABASE_URL', undefined, (texto) =>
    PROTOCOLOS_PG.includes(URL.parse(texto)?.protocol ?? '')
      ? texto
      : ['debe ser una dirección postgres://usuario:clave@servidor:5432/base'],
  )
  const masterKeys = leer<readonly Buffer[] | undefined>('MASTER_KEYS', undefined, leerClaves)
  const puerto = (texto: string) =>
    /^\d{1,5}$/.test(texto) && Number(texto) <= 65_535 ? Number(texto) : ['debe ser un número de 0 a 65535']
  const entero = (minimo: number, maximo: number, de: string) => (texto: string) =>
    /^\d{1,5}$/.test(texto) && Number(texto) >= minimo && Number(texto) <= maximo
      ? Number(texto)
      : [`debe ser un número de ${de} de ${minimo} a ${maximo}`]
  const config: Config = {
    port: leer('PORT', 3000, puerto),
    host: leer('HOST', '127.0.0.1', (texto) => (/^[\w.:-]+$/.test(texto) ? texto : ['debe ser un nombre o una IP'])),
    baseDeDatos: databaseUrl ? { tipo: 'externa', url: databaseUrl } : { tipo: 'embebida' },
    dataDir: leer('DATA_DIR', resolve(cwd, '.datos'), (texto) => (isAbsolute(texto) ? texto : resolve(cwd, texto))),
    publicUrl: leer<string | undefined>('PUBLIC_URL', undefined, (texto) => {
      const url = URL.parse(texto)
      return url && ['http:', 'https:'].includes(url.protocol) && !url.search && !url.hash
        ? texto.replace(/\/+$/, '')
        : ['debe ser una dirección http(s)://… sin parámetros']
    }),
    logLevel: leer('LOG_LEVEL', 'info', (texto) =>
      esNivel(texto) ? texto : [`debe ser uno de ${NIVELES_DE_LOG.join(', ')}`],
    ),
    masterKeys,
    workers: leer('WORKERS', true, siONo),
    metricsPort: leer<number | undefined>('METRICS_PORT', undefined, puerto),
    webhooksLoopback: leer('WEBHOOKS_LOOPBACK', !databaseUrl, siONo),
    mensajeria:
      leer('MESSAGING', 'buzon', (texto) =>
        ['buzon', 'whatsapp'].includes(texto) ? texto : ['debe ser buzon o whatsapp'],
      ) === 'whatsapp'
        ? { canal: 'whatsapp', whatsapp: leerWhatsapp(env, fallas) }
        : { canal: 'buzon' },
    horasDeSolicitud: leer('LOCATION_REQUEST_HOURS', 72, entero(1, 720, 'horas')),
    retencionDeUbicaciones: leer('LOCATION_RETENTION_DAYS', 365, entero(1, 3_650, 'días')),
    proxies: leer('TRUST_PROXY', 0, entero(0, 10, 'servidores intermedios')),
    mosaicos: leer<Config['mosaicos']>(
      'MAP_TILES_URL',
      { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png', atribucion: OSM },
      (texto) => {
        if (texto === 'none') return null
        const url = URL.parse(texto.replaceAll(/\{[a-z]+\}/g, '1'))
        return url?.protocol === 'https:' && /\{z\}.*\{x\}.*\{y\}/.test(texto)
          ? { url: texto, atribucion: env.MAP_TILES_ATTRIBUTION?.trim() || OSM }
          : ['debe ser una dirección https con {z}, {x} y {y}, o none']
      },
    ),
    retencionDeEntregas: leer('DELIVERY_RETENTION_DAYS', 90, entero(1, 3_650, 'días')),
    minutosDeEnlaces: leer('FILE_LINK_MINUTES', 15, entero(1, 1_440, 'minutos')),
    retencionDePruebas: leer('PROOF_RETENTION_DAYS', 730, entero(1, 3_650, 'días')),
    nombreDeMensajeria: leer('COURIER_NAME', 'Servicio de mensajería', (texto) =>
      /^(?=.*[\p{L}\p{N}])[^\p{Cc}\u202A-\u202E\u2066-\u2069]{1,80}$/u.test(texto)
        ? texto.normalize('NFC')
        : ['debe tener de 1 a 80 caracteres visibles, en una sola línea'],
    ),
    almacenamiento:
      leer('STORAGE', 'local', (texto) => (['local', 's3'].includes(texto) ? texto : ['debe ser local o s3'])) === 's3'
        ? { tipo: 's3', s3: leerS3(leer, env, fallas) }
        : { tipo: 'local' },
    zonaHoraria: leer<string | undefined>('TIME_ZONE', undefined, (texto) =>
      esZona(texto) ? texto : ['debe ser una zona horaria de IANA, por ejemplo America/Guatemala'],
    ),
  }
  if (env.DATABASE_URL?.trim() && !env.MASTER_KEYS?.trim()) {
    fallas.push('MASTER_KEYS: hace falta cuando hay DATABASE_URL; genere una con «openssl rand -base64 32»')
  }
  if (fallas.length > 0) throw new ErrorConfig(fallas)
  return Object.freeze(config)
}

const siONo = (texto: string) => (['0', '1'].includes(texto) ? texto === '1' : ['debe ser 1 (sí) o 0 (no)'])

type Leer = <T>(nombre: string, porDefecto: T, interpretar: (texto: string) => T | string[]) => T

/** The bucket, and the region unless an endpoint says where; the two halves of the credentials, or neither. */
function leerS3(leer: Leer, env: Readonly<Record<string, string | undefined>>, fallas: string[]): ConfigDeS3 {
  const endpoint = leer<string | undefined>('S3_ENDPOINT', undefined, (texto) => {
    const url = URL.parse(texto)
    return url && ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && !url.search && !url.username
      ? url.origin
      : ['debe ser una dirección http(s)://servidor[:puerto]']
  })
  const exigir = (nombre: string, motivo: string) => {
    if (!env[nombre]?.trim()) fallas.push(`${nombre}: hace falta con ${motivo}`)
  }
  exigir('S3_BUCKET', 'STORAGE=s3')
  if (!env.S3_ENDPOINT?.trim()) exigir('S3_REGION', 'STORAGE=s3 si no hay S3_ENDPOINT')
  const accessKeyId = env.S3_ACCESS_KEY_ID?.trim()
  const secretAccessKey = env.S3_SECRET_ACCESS_KEY?.trim()
  if (accessKeyId) exigir('S3_SECRET_ACCESS_KEY', 'S3_ACCESS_KEY_ID')
  if (secretAccessKey) exigir('S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY')
  return {
    bucket: leer('S3_BUCKET', '', (texto) =>
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(texto)
        ? texto
        : ['debe ser el nombre de un bucket: de 3 a 63 minúsculas, cifras, puntos y guiones'],
    ),
    region: leer('S3_REGION', 'us-east-1', (texto) =>
      /^[a-z0-9-]{2,40}$/.test(texto) ? texto : ['debe ser una región, por ejemplo us-east-1'],
    ),
    endpoint,
    enLaRuta: leer('S3_PATH_STYLE', false, siONo),
    credenciales: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
    prefijo: leer('S3_PREFIX', '', (texto) =>
      /^[\w-]{1,100}(\/[\w-]{1,100}){0,9}\/?$/.test(texto)
        ? `${texto.replace(/\/$/, '')}/`
        : ['debe ser como guias o datos/guias: letras, cifras, _ y -, separados por /'],
    ),
  }
}

const OSM = '© OpenStreetMap'

function esZona(texto: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: texto }))
  } catch {
    return false
  }
}

/** Each of its variables is required; all that are missing are named. */
function leerWhatsapp(env: Readonly<Record<string, string | undefined>>, fallas: string[]): ConfigDeWhatsapp {
  const exigir = (nombre: string, porDefecto?: string) => {
    const texto = env[`WHATSAPP_${nombre}`]?.trim() || porDefecto
    if (!texto) fallas.push(`WHATSAPP_${nombre}: hace falta con MESSAGING=whatsapp`)
    return texto ?? ''
  }
  return {
    baseUrl: exigir('BASE_URL', 'https://graph.facebook.com').replace(/\/+$/, ''),
    version: exigir('API_VERSION', 'v23.0'),
    phoneNumberId: exigir('PHONE_NUMBER_ID'),
    token: exigir('TOKEN'),
    appSecret: exigir('APP_SECRET'),
    verifyToken: exigir('VERIFY_TOKEN'),
    plantilla: exigir('TEMPLATE', 'confirmar_ubicacion'),
    idioma: exigir('TEMPLATE_LANGUAGE', 'es'),
  }
}

const esNivel = (texto: string): texto is Config['logLevel'] => (NIVELES_DE_LOG as readonly string[]).includes(texto)

/** Comma-separated base64 keys of 32 bytes; a list of faults if one isn't. */
export function leerClaves(texto: string): Buffer[] | string[] {
  const partes = texto.split(',').map((parte) => parte.trim())
  const fallas = partes.flatMap((parte, i) =>
    /^[A-Za-z0-9+/]{43}=$/.test(parte) ? [] : [`la clave ${i + 1} debe ser de 32 bytes en base64 (44 caracteres)`],
  )
  return fallas.length > 0 ? fallas : partes.map((parte) => Buffer.from(parte, 'base64'))
}
