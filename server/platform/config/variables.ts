import { resolve } from 'node:path'
import { DEFAULT_COLOR } from '../brand/color.ts'
import { GUATEMALAN_REST_DAYS } from '../time/restDays.ts'
import { exposure, isLoopbackHost } from './exposure.ts'
import * as readers from './readers.ts'
import { type ConfigTable, choiceOfTables, type Environment, readText, variable } from './table.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const OSM = '© OpenStreetMap'
const OSM_TILES = { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png', selfHosted: false, attribution: OSM }

const TILES = {
  attribution: variable({
    name: 'MAP_TILES_ATTRIBUTION',
    reader: readers.text,
    defaultValue: OSM,
    meaning: 'whom the map must name',
  }),
} satisfies ConfigTable

const reasonIfSet = (env: Environment['env'], otherVariable: string, motivo: string) =>
  readText(env, otherVariable) ? motivo : undefined

const exposureOf = (env: Environment['env']) =>
  exposure({ publicUrl: readText(env, 'PUBLIC_URL'), proxies: Number(readText(env, 'TRUST_PROXY') ?? 0) })

/** Reports whether the service is the embedded default and no other machine reaches it. */
const isLocalOnly = ({ env }: Environment) =>
  readText(env, 'DATABASE_URL') === undefined &&
  isLoopbackHost(readText(env, 'HOST') ?? 'localhost') &&
  exposureOf(env).length === 0

/**
 * Properties of a variable that opens a feature for this machine alone. Setting the variable to 1 is a fault if other
 * settings let other machines in.
 */
const onlyUnexposed = {
  defaultValue: isLocalOnly,
  findConflict(abierta: boolean, env: Environment['env']) {
    const exposures = exposureOf(env)
    if (!abierta || exposures.length === 0) return undefined
    return `solo vale en la propia máquina y ${exposures.join(' y ')} la abre a otras; quítela, o quite ${exposures.length > 1 ? 'esas dos' : 'esa otra'}`
  },
  defaultNote: '1 in the embedded default while `HOST` and `PUBLIC_URL` are loopback and `TRUST_PROXY` is 0, else 0',
}

/** Variables of a bucket of Amazon S3 or of a compatible server. */
const S3 = {
  bucket: variable({
    name: 'S3_BUCKET',
    reader: readers.bucket,
    defaultValue: '',
    requiredWhen: () => 'con STORAGE=s3',
    defaultNote: 'required',
    meaning: 'it stays private',
  }),
  region: variable({
    name: 'S3_REGION',
    reader: readers.region,
    defaultValue: 'us-east-1',
    requiredWhen: (env) => (readText(env, 'S3_ENDPOINT') ? undefined : 'con STORAGE=s3 si no hay S3_ENDPOINT'),
    defaultNote: 'required; us-east-1 with `S3_ENDPOINT`',
    meaning: 'where the bucket is',
  }),
  endpoint: variable({
    name: 'S3_ENDPOINT',
    reader: readers.server,
    defaultValue: undefined,
    defaultNote: 'Amazon S3',
    meaning: "a server of your own, `http(s)://host[:port]`, reachable by the people who open a file's link",
  }),
  pathStyle: variable({
    name: 'S3_PATH_STYLE',
    reader: readers.flag,
    defaultValue: false,
    meaning: "1 for servers that don't know buckets by host name",
  }),
  accessKeyId: variable({
    name: 'S3_ACCESS_KEY_ID',
    reader: readers.text,
    defaultValue: undefined,
    requiredWhen: (env) => reasonIfSet(env, 'S3_SECRET_ACCESS_KEY', 'con S3_SECRET_ACCESS_KEY'),
    defaultNote: "the AWS SDK's own chain",
    meaning: "unset: a profile, a role, the container's credentials",
  }),
  secretAccessKey: variable({
    name: 'S3_SECRET_ACCESS_KEY',
    reader: readers.text,
    defaultValue: undefined,
    requiredWhen: (env) => reasonIfSet(env, 'S3_ACCESS_KEY_ID', 'con S3_ACCESS_KEY_ID'),
    meaning: 'the other half of `S3_ACCESS_KEY_ID`',
  }),
  prefix: variable({
    name: 'S3_PREFIX',
    reader: readers.prefix,
    defaultValue: '',
    defaultNote: 'none',
    meaning: 'how every name in the bucket begins; one per environment that shares a bucket',
  }),
} satisfies ConfigTable

const REQUIRED_FOR_WHATSAPP = {
  defaultValue: '',
  requiredWhen: () => 'con MESSAGING=whatsapp',
  defaultNote: 'required',
}

/** Variables of an account of the WhatsApp Cloud API. */
const WHATSAPP = {
  baseUrl: variable({
    name: 'WHATSAPP_BASE_URL',
    reader: readers.address,
    defaultValue: 'https://graph.facebook.com',
    meaning: "the provider's API",
  }),
  version: variable({
    name: 'WHATSAPP_API_VERSION',
    reader: readers.text,
    defaultValue: 'v23.0',
    meaning: 'the version of that API',
  }),
  phoneNumberId: variable({
    name: 'WHATSAPP_PHONE_NUMBER_ID',
    reader: readers.text,
    ...REQUIRED_FOR_WHATSAPP,
    meaning: 'the number that writes',
  }),
  token: variable({
    name: 'WHATSAPP_TOKEN',
    reader: readers.text,
    ...REQUIRED_FOR_WHATSAPP,
    meaning: 'the access token of the account',
  }),
  appSecret: variable({
    name: 'WHATSAPP_APP_SECRET',
    reader: readers.text,
    ...REQUIRED_FOR_WHATSAPP,
    meaning: 'what the provider signs its notifications with',
  }),
  verifyToken: variable({
    name: 'WHATSAPP_VERIFY_TOKEN',
    reader: readers.text,
    ...REQUIRED_FOR_WHATSAPP,
    meaning: "what it says when the notifications' address is registered",
  }),
  template: variable({
    name: 'WHATSAPP_TEMPLATE',
    reader: readers.text,
    defaultValue: 'confirmar_ubicacion',
    meaning: 'the approved template that asks for a place',
  }),
  decisionTemplate: variable({
    name: 'WHATSAPP_DECISION_TEMPLATE',
    reader: readers.text,
    defaultValue: 'decidir_entrega',
    meaning: 'the approved template that asks what to do with a parcel after a failed attempt',
  }),
  language: variable({
    name: 'WHATSAPP_TEMPLATE_LANGUAGE',
    reader: readers.text,
    defaultValue: 'es',
    meaning: 'the language of the templates',
  }),
} satisfies ConfigTable

const CORREO = {
  desde: variable({
    name: 'MAIL_FROM',
    reader: readers.mailAddress,
    defaultValue: '',
    requiredWhen: () => 'con SMTP_URL',
    defaultNote: 'required',
    meaning: 'the address of the sender; its name is `BRAND_NAME`',
  }),
} satisfies ConfigTable

const POOLER = {
  supportsNames: variable({
    name: 'DATABASE_PREPARED',
    reader: readers.flag,
    defaultValue: true,
    meaning: '0: the pooler knows no prepared statements (PgBouncer before 1.21)',
  }),
} satisfies ConfigTable

const EXTERNAL = {
  motor: variable({
    name: 'DATABASE_ENGINE',
    reader: readers.oneOf(['postgres', 'citus']),
    defaultValue: undefined,
    defaultNote: 'found out',
    meaning:
      '`citus`: the coordinator of a Citus cluster; `postgres`: no cluster, whatever is installed; unset: Citus where the database has its extension',
  }),
  readUrl: variable({
    name: 'DATABASE_URL_READ',
    reader: readers.postgresUrl,
    defaultValue: undefined,
    meaning: 'a streaming replica of that server, for tracking pages and operators’ searches',
  }),
  pooler: variable({
    name: 'DATABASE_POOLER_URL',
    reader: readers.pooler(POOLER),
    defaultValue: undefined,
    meaning: 'a pooler in transaction mode (PgBouncer) before that server',
    groups: [{ using: 'DATABASE_POOLER_URL', table: POOLER }],
  }),
} satisfies ConfigTable

const BACKUP = {
  keyFile: variable({
    name: 'BACKUP_KEY_FILE',
    reader: readers.folder,
    defaultValue: '',
    requiredWhen: () => 'con BACKUP_DIR',
    defaultNote: 'required',
    meaning: 'a file with the passphrase of the backups, of 20 characters or more; keep a copy elsewhere',
  }),
  dias: variable({
    name: 'BACKUP_DAYS',
    reader: readers.number(1, 30, 'días'),
    defaultValue: 14,
    meaning: 'how many days back one can restore; each day takes as much room as the database',
  }),
} satisfies ConfigTable

/** All variables of the service: source of the reader, the types, the faults and docs/operacion/configuration.md. */
export const VARIABLES = {
  port: variable({
    name: 'PORT',
    reader: readers.port,
    defaultValue: 3000,
    meaning: 'the TCP port it listens on; 0 takes any free one',
  }),
  host: variable({
    name: 'HOST',
    reader: readers.host,
    defaultValue: '127.0.0.1',
    meaning: 'the address it listens on',
  }),
  database: variable({
    name: 'DATABASE_URL',
    reader: readers.postgres(EXTERNAL),
    defaultValue: { tipo: 'embebida' },
    defaultNote: 'unset',
    meaning: 'unset: an embedded PostgreSQL under `DATA_DIR`; set: that server, migrated at start',
    groups: [{ using: 'DATABASE_URL', table: EXTERNAL }],
  }),
  dataDir: variable({
    name: 'DATA_DIR',
    reader: readers.folder,
    defaultValue: ({ cwd }) => resolve(cwd, '.datos'),
    defaultNote: '`.datos`',
    meaning:
      "the embedded default's data and keys; photos, signatures and PDFs (`archivos`): processes over one database must share it, or use S3; uploads under way (`subidas`, at most 320 MB a process)",
  }),
  backup: variable({
    name: 'BACKUP_DIR',
    reader: readers.folderWith(BACKUP),
    defaultValue: undefined,
    findConflict: (_, env) =>
      reasonIfSet(
        env,
        'DATABASE_URL',
        'respalda la base embebida; con DATABASE_URL respalde con las herramientas de PostgreSQL',
      ),
    meaning: 'a folder on another disk for the continuous backup of the embedded default',
    groups: [{ using: 'BACKUP_DIR', table: BACKUP }],
  }),
  masterKeys: variable({
    name: 'MASTER_KEYS',
    reader: readers.masterKeyTexts,
    defaultValue: undefined,
    requiredWhen: (env) =>
      reasonIfSet(env, 'DATABASE_URL', 'cuando hay DATABASE_URL; genere una con «openssl rand -base64 32»'),
    defaultNote: 'made once under `DATA_DIR`',
    meaning: 'base64 keys of 32 bytes, comma-separated, the first is the present one; required with `DATABASE_URL`',
  }),
  publicUrl: variable({
    name: 'PUBLIC_URL',
    reader: readers.linkBase,
    defaultValue: undefined,
    defaultNote: 'the address listened on',
    meaning: 'base of every link given out, the QR code of a proof among them: set it for `npm run worker`, too',
  }),
  workers: variable({
    name: 'WORKERS',
    reader: readers.flag,
    defaultValue: true,
    meaning: "0: no background work in the API's process; run `npm run worker` beside it",
  }),
  apiProcesses: variable({
    name: 'API_PROCESSES',
    reader: readers.processes,
    defaultValue: undefined,
    meaning:
      'number of API processes on one `PORT` (not 0), which a supervisor replaces when they die and on SIGHUP; unset: one, by itself',
  }),
  metricsPort: variable({
    name: 'METRICS_PORT',
    reader: readers.port,
    defaultValue: undefined,
    meaning:
      'a port on `HOST` for `/metrics` (Prometheus), `/healthz` and `/readyz`, without a key: keep it inside your network',
  }),
  webhooksLoopback: variable({
    name: 'WEBHOOKS_LOOPBACK',
    reader: readers.flag,
    ...onlyUnexposed,
    meaning:
      'test keys may register webhooks at `http` on loopback, except through a proxy; 1 with another `PUBLIC_URL` or `TRUST_PROXY` stops the start',
  }),
  buzon: variable({
    name: 'MAILBOX',
    reader: readers.flag,
    ...onlyUnexposed,
    meaning:
      'serves `/buzon`, the messages to recipients of test guides, and `/ui`, the components of the pages, without a key, to this machine, except through a proxy; 1 with another `PUBLIC_URL` or `TRUST_PROXY` stops the start',
  }),
  webhookRetention: variable({
    name: 'WEBHOOK_RETENTION_DAYS',
    reader: readers.number(1, 3_650, 'días'),
    defaultValue: 90,
    meaning: 'how long webhook deliveries that are over are kept',
  }),
  storage: choiceOfTables({
    name: 'STORAGE',
    opciones: { local: {}, s3: S3 },
    defaultValue: 'local',
    meaning: '`s3`: photos, signatures and PDFs in a bucket of Amazon S3 or a compatible server',
  }),
  linkMinutes: variable({
    name: 'FILE_LINK_MINUTES',
    reader: readers.number(1, 1_440, 'minutos'),
    defaultValue: 15,
    meaning: 'how long signed links (files of a proof, labels) are good for (at most 1440)',
  }),
  pruebaRetention: variable({
    name: 'PROOF_RETENTION_DAYS',
    reader: readers.number(1, 3_650, 'días'),
    defaultValue: 730,
    meaning: 'how long proofs and photos of failed attempts are kept after the delivery or attempt (at most 3650)',
  }),
  brandName: variable({
    name: 'BRAND_NAME',
    reader: readers.displayName,
    defaultValue: 'Guías',
    meaning: 'the courier company, as pages, messages, labels and proofs name it',
  }),
  brandLogo: variable({
    name: 'BRAND_LOGO',
    reader: readers.fileOrAddress,
    defaultValue: undefined,
    defaultNote: 'the name',
    meaning:
      'path or `http(s)` address of an SVG or PNG of at most 512 KB, visible on white; drawn anew as PNG at start. An address that does not answer leaves the name',
  }),
  brandColor: variable({
    name: 'BRAND_COLOR',
    reader: readers.readableColor,
    defaultValue: DEFAULT_COLOR,
    meaning: 'the colour of pages and documents, `#rrggbb`, with a contrast of at least 4.5 with white',
  }),
  helpPhone: variable({
    name: 'SUPPORT_PHONE',
    reader: readers.telephone,
    defaultValue: null,
    defaultNote: 'unset',
    meaning: 'the telephone for recipients and couriers, with its country code',
  }),
  repartidorReach: variable({
    name: 'COURIER_REACH',
    reader: readers.oneOf(['custodia', 'cualquiera', 'asignado']),
    defaultValue: 'custodia',
    meaning:
      "guides that a courier sees whole and finishes: `custodia`, those that the courier carries; `cualquiera`, everybody's; `asignado`, as `custodia`, and guides that are not assigned to the courier are hidden",
  }),
  timeZone: variable({
    name: 'TIME_ZONE',
    reader: readers.timeZone,
    defaultValue: undefined,
    meaning:
      "IANA zone in which documents and pages tell times; unset: that of the destination, and Guatemala's for the office",
  }),
  restDays: variable({
    name: 'REST_DAYS',
    reader: readers.restDays,
    defaultValue: GUATEMALAN_REST_DAYS,
    defaultNote: '`domingo,guatemala`',
    meaning:
      'days that recipients are not offered for another attempt, separated by commas: days of the week, `guatemala` (its national holidays), days of every year (`12-24`) or of one (`2026-12-24`); `none`: every day is offered',
  }),
  mensajeria: choiceOfTables({
    name: 'MESSAGING',
    opciones: { buzon: {}, whatsapp: WHATSAPP },
    defaultValue: 'buzon',
    requiredWhen: (env) =>
      reasonIfSet(
        env,
        'DATABASE_URL',
        'cuando hay DATABASE_URL; ponga «whatsapp» para preguntar su ubicación a los destinatarios, o «buzon» si todavía no se les pregunta',
      ),
    defaultNote: 'required with `DATABASE_URL`, else buzon',
    meaning:
      'how recipients of live guides are asked for their place: `whatsapp`, over the WhatsApp Cloud API; `buzon`, not at all (warning `sin_mensajeria`)',
  }),
  correo: variable({
    name: 'SMTP_URL',
    reader: readers.smtp(CORREO),
    defaultValue: undefined,
    meaning:
      'the server that takes mails to persons: `smtp://user:password@host:587` or `smtps://…:465`; unset: the embedded default shows them in the mailbox, elsewhere they wait',
    groups: [{ using: 'SMTP_URL', table: CORREO }],
  }),
  companyIdleMinutes: variable({
    name: 'OFFICE_IDLE_MINUTES',
    reader: readers.number(5, 720, 'minutos'),
    defaultValue: 30,
    meaning: "minutes after which the unused session of a courier company's person ends; it ends after 12 hours anyway",
  }),
  cajaIdleMinutes: variable({
    name: 'CASHIER_IDLE_MINUTES',
    reader: readers.number(5, 720, 'minutos'),
    defaultValue: 15,
    meaning: 'the same for a person with scope `caja`; at most `OFFICE_IDLE_MINUTES` counts',
  }),
  comercioIdleHours: variable({
    name: 'SHOP_IDLE_HOURS',
    reader: readers.number(1, 720, 'horas'),
    defaultValue: 168,
    meaning: "hours after which the unused session of a merchant's person ends; it ends after 30 days anyway",
  }),
  requestHours: variable({
    name: 'LOCATION_REQUEST_HOURS',
    reader: readers.number(1, 720, 'horas'),
    defaultValue: 72,
    meaning: "how long a recipient's link is good for",
  }),
  ubicacionRetention: variable({
    name: 'LOCATION_RETENTION_DAYS',
    reader: readers.number(1, 3_650, 'días'),
    defaultValue: 365,
    meaning: "how long places, links and phones of messages are kept after a guide's end",
  }),
  personaRetention: variable({
    name: 'PERSON_RETENTION_DAYS',
    reader: readers.number(1, 3_650, 'días'),
    defaultValue: 365,
    meaning:
      "how long names, telephones, addresses, contents and the words of the history are kept after a guide's end (at most 3650)",
  }),
  tiles: variable({
    name: 'MAP_TILES_URL',
    reader: readers.mapTiles(TILES),
    defaultValue: OSM_TILES,
    defaultNote: "OpenStreetMap's",
    meaning:
      "tiles of the recipients' pages and, if it is set, of proofs: an `https` address with `{z}`, `{x}`, `{y}`, and `{r}` for double resolution; `none`: no map. OpenStreetMap's own are for small use",
    groups: [{ using: 'MAP_TILES_URL', table: TILES }],
  }),
  proxies: variable({
    name: 'TRUST_PROXY',
    reader: readers.number(0, 10, 'servidores intermedios'),
    defaultValue: 0,
    meaning: 'number of reverse proxies before the service; without it all clients behind one share a rate limit',
  }),
  securityContact: variable({
    name: 'SECURITY_CONTACT',
    reader: readers.contact,
    defaultValue: undefined,
    meaning:
      '`mailto:`, `tel:` or `https:` address for reports of weaknesses, at `/.well-known/security.txt`; unset: no such file',
  }),
  networkRate: variable({
    name: 'REQUESTS_PER_NETWORK',
    reader: readers.number(1, 10_000, 'solicitudes por segundo'),
    defaultValue: 50,
    meaning: 'requests per second without a key (pages, signed links, notifications) of one network',
  }),
  operadorRate: variable({
    name: 'REQUESTS_PER_OPERATOR_KEY',
    reader: readers.number(1, 10_000, 'solicitudes por segundo'),
    defaultValue: 50,
    meaning: "requests per second of one operator's key; a merchant's are his own (`ritmos`, by an operator)",
  }),
  connectionsPerNetwork: variable({
    name: 'CONNECTIONS_PER_NETWORK',
    reader: readers.number(1, 10_000, 'conexiones'),
    defaultValue: 500,
    meaning: 'open connections of one network in each process; with `TRUST_PROXY` the proxy bounds them',
  }),
  logLevel: variable({
    name: 'LOG_LEVEL',
    reader: readers.oneOf(LOG_LEVELS),
    defaultValue: 'info',
    meaning: LOG_LEVELS.join(', '),
  }),
  traces: variable({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    reader: readers.text,
    // Other standard `OTEL_*` variables also start OpenTelemetry's SDK.
    defaultValue: ({ env }): string | undefined =>
      Object.keys(env).some((name) => name.startsWith('OTEL_')) ? '' : undefined,
    defaultNote: 'unset',
    meaning:
      'address to which traces are sent (OTLP), one of the standard `OTEL_*` variables of OpenTelemetry, all of which work; without any of them nothing is traced',
  }),
} satisfies ConfigTable
