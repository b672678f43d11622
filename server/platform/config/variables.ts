import { resolve } from 'node:path'
import { DEFAULT_COLOR } from '../brand/color.ts'
import { exposure, isLoopbackHost } from './exposure.ts'
import * as lectores from './readers.ts'
import { type ConfigTable, choice, type Environment, textOf, variable } from './table.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const OSM = '© OpenStreetMap'
const MOSAICOS_DE_OSM = { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png', propios: false, atribucion: OSM }

const MOSAICOS = {
  atribucion: variable({
    nombre: 'MAP_TILES_ATTRIBUTION',
    lector: lectores.text,
    porDefecto: OSM,
    significado: 'whom the map must name',
  }),
} satisfies ConfigTable

const siHay = (env: Environment['env'], otra: string, motivo: string) => (textOf(env, otra) ? motivo : undefined)

const exposicionDe = (env: Environment['env']) =>
  exposure({ publicUrl: textOf(env, 'PUBLIC_URL'), proxies: Number(textOf(env, 'TRUST_PROXY') ?? 0) })

/** Reports whether the service is the embedded default and no other machine reaches it. */
const soloAqui = ({ env }: Environment) =>
  textOf(env, 'DATABASE_URL') === undefined &&
  isLoopbackHost(textOf(env, 'HOST') ?? 'localhost') &&
  exposicionDe(env).length === 0

/**
 * Properties of a variable that opens a feature for this machine alone. Setting the variable to 1 is a fault if other
 * settings let other machines in.
 */
const soloSinExponer = {
  porDefecto: soloAqui,
  choca(abierta: boolean, env: Environment['env']) {
    const porque = exposicionDe(env)
    if (!abierta || porque.length === 0) return undefined
    return `solo vale en la propia máquina y ${porque.join(' y ')} la abre a otras; quítela, o quite ${porque.length > 1 ? 'esas dos' : 'esa otra'}`
  },
  defecto: '1 in the embedded default while `HOST` and `PUBLIC_URL` are loopback and `TRUST_PROXY` is 0, else 0',
}

/** Variables of a bucket of Amazon S3 or of a compatible server. */
const S3 = {
  bucket: variable({
    nombre: 'S3_BUCKET',
    lector: lectores.bucket,
    porDefecto: '',
    exigida: () => 'con STORAGE=s3',
    defecto: 'required',
    significado: 'it stays private',
  }),
  region: variable({
    nombre: 'S3_REGION',
    lector: lectores.region,
    porDefecto: 'us-east-1',
    exigida: (env) => (textOf(env, 'S3_ENDPOINT') ? undefined : 'con STORAGE=s3 si no hay S3_ENDPOINT'),
    defecto: 'required; us-east-1 with `S3_ENDPOINT`',
    significado: 'where the bucket is',
  }),
  endpoint: variable({
    nombre: 'S3_ENDPOINT',
    lector: lectores.server,
    porDefecto: undefined,
    defecto: 'Amazon S3',
    significado: "a server of your own, `http(s)://host[:port]`, reachable by the people who open a file's link",
  }),
  enLaRuta: variable({
    nombre: 'S3_PATH_STYLE',
    lector: lectores.flag,
    porDefecto: false,
    significado: "1 for servers that don't know buckets by host name",
  }),
  accessKeyId: variable({
    nombre: 'S3_ACCESS_KEY_ID',
    lector: lectores.text,
    porDefecto: undefined,
    exigida: (env) => siHay(env, 'S3_SECRET_ACCESS_KEY', 'con S3_SECRET_ACCESS_KEY'),
    defecto: "the AWS SDK's own chain",
    significado: "unset: a profile, a role, the container's credentials",
  }),
  secretAccessKey: variable({
    nombre: 'S3_SECRET_ACCESS_KEY',
    lector: lectores.text,
    porDefecto: undefined,
    exigida: (env) => siHay(env, 'S3_ACCESS_KEY_ID', 'con S3_ACCESS_KEY_ID'),
    significado: 'the other half of `S3_ACCESS_KEY_ID`',
  }),
  prefijo: variable({
    nombre: 'S3_PREFIX',
    lector: lectores.prefix,
    porDefecto: '',
    defecto: 'none',
    significado: 'how every name in the bucket begins; one per environment that shares a bucket',
  }),
} satisfies ConfigTable

const conWhatsapp = { porDefecto: '', exigida: () => 'con MESSAGING=whatsapp', defecto: 'required' }

/** Variables of an account of the WhatsApp Cloud API. */
const WHATSAPP = {
  baseUrl: variable({
    nombre: 'WHATSAPP_BASE_URL',
    lector: lectores.address,
    porDefecto: 'https://graph.facebook.com',
    significado: "the provider's API",
  }),
  version: variable({
    nombre: 'WHATSAPP_API_VERSION',
    lector: lectores.text,
    porDefecto: 'v23.0',
    significado: 'the version of that API',
  }),
  phoneNumberId: variable({
    nombre: 'WHATSAPP_PHONE_NUMBER_ID',
    lector: lectores.text,
    ...conWhatsapp,
    significado: 'the number that writes',
  }),
  token: variable({
    nombre: 'WHATSAPP_TOKEN',
    lector: lectores.text,
    ...conWhatsapp,
    significado: 'the access token of the account',
  }),
  appSecret: variable({
    nombre: 'WHATSAPP_APP_SECRET',
    lector: lectores.text,
    ...conWhatsapp,
    significado: 'what the provider signs its notifications with',
  }),
  verifyToken: variable({
    nombre: 'WHATSAPP_VERIFY_TOKEN',
    lector: lectores.text,
    ...conWhatsapp,
    significado: "what it says when the notifications' address is registered",
  }),
  plantilla: variable({
    nombre: 'WHATSAPP_TEMPLATE',
    lector: lectores.text,
    porDefecto: 'confirmar_ubicacion',
    significado: 'the approved template that asks for a place',
  }),
  plantillaDeDecision: variable({
    nombre: 'WHATSAPP_DECISION_TEMPLATE',
    lector: lectores.text,
    porDefecto: 'decidir_entrega',
    significado: 'the approved template that asks what to do with a parcel after a failed attempt',
  }),
  idioma: variable({
    nombre: 'WHATSAPP_TEMPLATE_LANGUAGE',
    lector: lectores.text,
    porDefecto: 'es',
    significado: 'the language of the templates',
  }),
} satisfies ConfigTable

const CORREO = {
  desde: variable({
    nombre: 'MAIL_FROM',
    lector: lectores.mailAddress,
    porDefecto: '',
    exigida: () => 'con SMTP_URL',
    defecto: 'required',
    significado: 'the address of the sender; its name is `BRAND_NAME`',
  }),
} satisfies ConfigTable

const POOLER = {
  conNombres: variable({
    nombre: 'DATABASE_PREPARED',
    lector: lectores.flag,
    porDefecto: true,
    significado: '0: the pooler knows no prepared statements (PgBouncer before 1.21)',
  }),
} satisfies ConfigTable

const EXTERNA = {
  motor: variable({
    nombre: 'DATABASE_ENGINE',
    lector: lectores.oneOf(['postgres', 'citus']),
    porDefecto: undefined,
    defecto: 'found out',
    significado:
      '`citus`: the coordinator of a Citus cluster; `postgres`: no cluster, whatever is installed; unset: Citus where the database has its extension',
  }),
  urlDeLectura: variable({
    nombre: 'DATABASE_URL_READ',
    lector: lectores.postgresUrl,
    porDefecto: undefined,
    significado: 'a streaming replica of that server, for tracking pages and operators’ searches',
  }),
  pooler: variable({
    nombre: 'DATABASE_POOLER_URL',
    lector: lectores.pooler(POOLER),
    porDefecto: undefined,
    significado: 'a pooler in transaction mode (PgBouncer) before that server',
    grupos: [{ con: 'DATABASE_POOLER_URL', tabla: POOLER }],
  }),
} satisfies ConfigTable

const RESPALDO = {
  archivoDeClave: variable({
    nombre: 'BACKUP_KEY_FILE',
    lector: lectores.folder,
    porDefecto: '',
    exigida: () => 'con BACKUP_DIR',
    defecto: 'required',
    significado: 'a file with the passphrase of the backups, of 20 characters or more; keep a copy elsewhere',
  }),
  dias: variable({
    nombre: 'BACKUP_DAYS',
    lector: lectores.number(1, 30, 'días'),
    porDefecto: 14,
    significado: 'how many days back one can restore; each day takes as much room as the database',
  }),
} satisfies ConfigTable

/** All variables of the service: source of the reader, the types, the faults and docs/operacion/configuration.md. */
export const VARIABLES = {
  port: variable({
    nombre: 'PORT',
    lector: lectores.port,
    porDefecto: 3000,
    significado: 'the TCP port it listens on; 0 takes any free one',
  }),
  host: variable({
    nombre: 'HOST',
    lector: lectores.host,
    porDefecto: '127.0.0.1',
    significado: 'the address it listens on',
  }),
  baseDeDatos: variable({
    nombre: 'DATABASE_URL',
    lector: lectores.postgres(EXTERNA),
    porDefecto: { tipo: 'embebida' },
    defecto: 'unset',
    significado: 'unset: an embedded PostgreSQL under `DATA_DIR`; set: that server, migrated at start',
    grupos: [{ con: 'DATABASE_URL', tabla: EXTERNA }],
  }),
  dataDir: variable({
    nombre: 'DATA_DIR',
    lector: lectores.folder,
    porDefecto: ({ cwd }) => resolve(cwd, '.datos'),
    defecto: '`.datos`',
    significado:
      "the embedded default's data and keys; photos, signatures and PDFs (`archivos`): processes over one database must share it, or use S3; uploads under way (`subidas`, at most 320 MB a process)",
  }),
  respaldo: variable({
    nombre: 'BACKUP_DIR',
    lector: lectores.folderWith(RESPALDO),
    porDefecto: undefined,
    choca: (_, env) =>
      siHay(
        env,
        'DATABASE_URL',
        'respalda la base embebida; con DATABASE_URL respalde con las herramientas de PostgreSQL',
      ),
    significado: 'a folder on another disk for the continuous backup of the embedded default',
    grupos: [{ con: 'BACKUP_DIR', tabla: RESPALDO }],
  }),
  masterKeys: variable({
    nombre: 'MASTER_KEYS',
    lector: lectores.masterKeyTexts,
    porDefecto: undefined,
    exigida: (env) => siHay(env, 'DATABASE_URL', 'cuando hay DATABASE_URL; genere una con «openssl rand -base64 32»'),
    defecto: 'made once under `DATA_DIR`',
    significado: 'base64 keys of 32 bytes, comma-separated, the first is the present one; required with `DATABASE_URL`',
  }),
  publicUrl: variable({
    nombre: 'PUBLIC_URL',
    lector: lectores.linkBase,
    porDefecto: undefined,
    defecto: 'the address listened on',
    significado: 'base of every link given out, the QR code of a proof among them: set it for `npm run worker`, too',
  }),
  workers: variable({
    nombre: 'WORKERS',
    lector: lectores.flag,
    porDefecto: true,
    significado: "0: no background work in the API's process; run `npm run worker` beside it",
  }),
  procesosDeApi: variable({
    nombre: 'API_PROCESSES',
    lector: lectores.processes,
    porDefecto: undefined,
    significado:
      'number of API processes on one `PORT` (not 0), which a supervisor replaces when they die and on SIGHUP; unset: one, by itself',
  }),
  metricsPort: variable({
    nombre: 'METRICS_PORT',
    lector: lectores.port,
    porDefecto: undefined,
    significado:
      'a port on `HOST` for `/metrics` (Prometheus), `/healthz` and `/readyz`, without a key: keep it inside your network',
  }),
  webhooksLoopback: variable({
    nombre: 'WEBHOOKS_LOOPBACK',
    lector: lectores.flag,
    ...soloSinExponer,
    significado:
      'test keys may register webhooks at `http` on loopback, except through a proxy; 1 with another `PUBLIC_URL` or `TRUST_PROXY` stops the start',
  }),
  buzon: variable({
    nombre: 'MAILBOX',
    lector: lectores.flag,
    ...soloSinExponer,
    significado:
      'serves `/buzon`, the messages to recipients of test guides, and `/ui`, the components of the pages, without a key, to this machine, except through a proxy; 1 with another `PUBLIC_URL` or `TRUST_PROXY` stops the start',
  }),
  retencionDeWebhooks: variable({
    nombre: 'WEBHOOK_RETENTION_DAYS',
    lector: lectores.number(1, 3_650, 'días'),
    porDefecto: 90,
    significado: 'how long webhook deliveries that are over are kept',
  }),
  almacenamiento: choice({
    nombre: 'STORAGE',
    opciones: { local: {}, s3: S3 },
    porDefecto: 'local',
    significado: '`s3`: photos, signatures and PDFs in a bucket of Amazon S3 or a compatible server',
  }),
  minutosDeEnlaces: variable({
    nombre: 'FILE_LINK_MINUTES',
    lector: lectores.number(1, 1_440, 'minutos'),
    porDefecto: 15,
    significado: 'how long signed links (files of a proof, labels) are good for (at most 1440)',
  }),
  retencionDePruebas: variable({
    nombre: 'PROOF_RETENTION_DAYS',
    lector: lectores.number(1, 3_650, 'días'),
    porDefecto: 730,
    significado: 'how long proofs and photos of failed attempts are kept after the delivery or attempt (at most 3650)',
  }),
  nombreDeMarca: variable({
    nombre: 'BRAND_NAME',
    lector: lectores.displayName,
    porDefecto: 'Guías',
    significado: 'the courier company, as pages, messages, labels and proofs name it',
  }),
  logoDeMarca: variable({
    nombre: 'BRAND_LOGO',
    lector: lectores.fileOrAddress,
    porDefecto: undefined,
    defecto: 'the name',
    significado:
      'path or `http(s)` address of an SVG or PNG of at most 512 KB, visible on white; drawn anew as PNG at start. An address that does not answer leaves the name',
  }),
  colorDeMarca: variable({
    nombre: 'BRAND_COLOR',
    lector: lectores.readableColor,
    porDefecto: DEFAULT_COLOR,
    significado: 'the colour of pages and documents, `#rrggbb`, with a contrast of at least 4.5 with white',
  }),
  telefonoDeAyuda: variable({
    nombre: 'SUPPORT_PHONE',
    lector: lectores.telephone,
    porDefecto: null,
    defecto: 'unset',
    significado: 'the telephone for recipients and couriers, with its country code',
  }),
  alcanceDeRepartidor: variable({
    nombre: 'COURIER_REACH',
    lector: lectores.oneOf(['custodia', 'cualquiera', 'asignado']),
    porDefecto: 'custodia',
    significado:
      "guides that a courier sees whole and finishes: `custodia`, those that the courier carries; `cualquiera`, everybody's; `asignado`, as `custodia`, and guides that are not assigned to the courier are hidden",
  }),
  zonaHoraria: variable({
    nombre: 'TIME_ZONE',
    lector: lectores.timeZone,
    porDefecto: undefined,
    significado:
      "IANA zone in which documents and pages tell times; unset: that of the destination, and Guatemala's for the office",
  }),
  mensajeria: choice({
    nombre: 'MESSAGING',
    opciones: { buzon: {}, whatsapp: WHATSAPP },
    porDefecto: 'buzon',
    exigida: (env) =>
      siHay(
        env,
        'DATABASE_URL',
        'cuando hay DATABASE_URL; ponga «whatsapp» para preguntar su ubicación a los destinatarios, o «buzon» si todavía no se les pregunta',
      ),
    defecto: 'required with `DATABASE_URL`, else buzon',
    significado:
      'how recipients of live guides are asked for their place: `whatsapp`, over the WhatsApp Cloud API; `buzon`, not at all (warning `sin_mensajeria`)',
  }),
  correo: variable({
    nombre: 'SMTP_URL',
    lector: lectores.smtp(CORREO),
    porDefecto: undefined,
    significado:
      'the server that takes mails to persons: `smtp://user:password@host:587` or `smtps://…:465`; unset: the embedded default shows them in the mailbox, elsewhere they wait',
    grupos: [{ con: 'SMTP_URL', tabla: CORREO }],
  }),
  inactividadDeEmpresa: variable({
    nombre: 'OFFICE_IDLE_MINUTES',
    lector: lectores.number(5, 720, 'minutos'),
    porDefecto: 30,
    significado:
      "minutes after which the unused session of a courier company's person ends; it ends after 12 hours anyway",
  }),
  inactividadDeCaja: variable({
    nombre: 'CASHIER_IDLE_MINUTES',
    lector: lectores.number(5, 720, 'minutos'),
    porDefecto: 15,
    significado: 'the same for a person with scope `caja`; at most `OFFICE_IDLE_MINUTES` counts',
  }),
  inactividadDeComercio: variable({
    nombre: 'SHOP_IDLE_HOURS',
    lector: lectores.number(1, 720, 'horas'),
    porDefecto: 168,
    significado: "hours after which the unused session of a merchant's person ends; it ends after 30 days anyway",
  }),
  horasDeSolicitud: variable({
    nombre: 'LOCATION_REQUEST_HOURS',
    lector: lectores.number(1, 720, 'horas'),
    porDefecto: 72,
    significado: "how long a recipient's link is good for",
  }),
  retencionDeUbicaciones: variable({
    nombre: 'LOCATION_RETENTION_DAYS',
    lector: lectores.number(1, 3_650, 'días'),
    porDefecto: 365,
    significado: "how long places, links and phones of messages are kept after a guide's end",
  }),
  retencionDePersonas: variable({
    nombre: 'PERSON_RETENTION_DAYS',
    lector: lectores.number(1, 3_650, 'días'),
    porDefecto: 365,
    significado:
      "how long names, telephones, addresses, contents and the words of the history are kept after a guide's end (at most 3650)",
  }),
  mosaicos: variable({
    nombre: 'MAP_TILES_URL',
    lector: lectores.mapTiles(MOSAICOS),
    porDefecto: MOSAICOS_DE_OSM,
    defecto: "OpenStreetMap's",
    significado:
      "tiles of the recipients' pages and, if it is set, of proofs: an `https` address with `{z}`, `{x}`, `{y}`, and `{r}` for double resolution; `none`: no map. OpenStreetMap's own are for small use",
    grupos: [{ con: 'MAP_TILES_URL', tabla: MOSAICOS }],
  }),
  proxies: variable({
    nombre: 'TRUST_PROXY',
    lector: lectores.number(0, 10, 'servidores intermedios'),
    porDefecto: 0,
    significado: 'number of reverse proxies before the service; without it all clients behind one share a rate limit',
  }),
  contactoDeSeguridad: variable({
    nombre: 'SECURITY_CONTACT',
    lector: lectores.contact,
    porDefecto: undefined,
    significado:
      '`mailto:`, `tel:` or `https:` address for reports of weaknesses, at `/.well-known/security.txt`; unset: no such file',
  }),
  ritmoDeRed: variable({
    nombre: 'REQUESTS_PER_NETWORK',
    lector: lectores.number(1, 10_000, 'solicitudes por segundo'),
    porDefecto: 50,
    significado: 'requests per second without a key (pages, signed links, notifications) of one network',
  }),
  ritmoDeOperador: variable({
    nombre: 'REQUESTS_PER_OPERATOR_KEY',
    lector: lectores.number(1, 10_000, 'solicitudes por segundo'),
    porDefecto: 50,
    significado: "requests per second of one operator's key; a merchant's are his own (`ritmos`, by an operator)",
  }),
  conexionesPorRed: variable({
    nombre: 'CONNECTIONS_PER_NETWORK',
    lector: lectores.number(1, 10_000, 'conexiones'),
    porDefecto: 500,
    significado: 'open connections of one network in each process; with `TRUST_PROXY` the proxy bounds them',
  }),
  logLevel: variable({
    nombre: 'LOG_LEVEL',
    lector: lectores.oneOf(LOG_LEVELS),
    porDefecto: 'info',
    significado: LOG_LEVELS.join(', '),
  }),
  trazas: variable({
    nombre: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    lector: lectores.text,
    // Other standard `OTEL_*` variables also start OpenTelemetry's SDK.
    porDefecto: ({ env }): string | undefined =>
      Object.keys(env).some((nombre) => nombre.startsWith('OTEL_')) ? '' : undefined,
    defecto: 'unset',
    significado:
      'address to which traces are sent (OTLP), one of the standard `OTEL_*` variables of OpenTelemetry, all of which work; without any of them nothing is traced',
  }),
} satisfies ConfigTable
