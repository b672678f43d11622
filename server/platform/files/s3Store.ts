import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { type FileStore, FileStoreError, isStorageKey, requireStorageKey, storeBusy } from './store.ts'

/** Connection settings of a bucket in Amazon S3 or in an S3-compatible service. */
export interface S3Config {
  bucket: string
  region: string
  /** URL of the S3-compatible service; undefined means Amazon S3. */
  endpoint: string | undefined
  /** True if the bucket name is in the path of the URL (path-style) instead of the host name. */
  pathStyle: boolean
  /**
   * Access key, set together with `secretAccessKey`. If both are undefined, the SDK uses the machine's own credentials
   * (profile, role or container).
   */
  accessKeyId: string | undefined
  secretAccessKey: string | undefined
  /** Prefix of every key: empty, or a path that ends with a slash. */
  prefix: string
}

/** Storage in an S3 bucket, which can also check whether it is available, and close its client. */
export interface S3Store extends FileStore {
  /**
   * Checks that the bucket answers.
   * @returns undefined, or a Spanish message for the operator if the failure may be temporary
   * @throws FileStoreError if the operator must correct the configuration
   */
  check(): Promise<string | undefined>
  close(): void
}

/**
 * Timeouts in milliseconds. `CONNECTION_TIMEOUT_MS`: to connect. `SILENCE_TIMEOUT_MS`: no data on the socket.
 * `REQUEST_DEADLINE_MS`: one operation with its retries and its body.
 */
const CONNECTION_TIMEOUT_MS = 2_000
const SILENCE_TIMEOUT_MS = 4_000
const REQUEST_DEADLINE_MS = 10_000
const INTENTOS = 3
/** Lifetime in seconds of a link to the storage itself. A client follows the redirect at once. */
const LINK_TTL_S = 300

/** Creates a storage in a bucket of Amazon S3 or of an S3-compatible service. */
export function createS3Store(config: S3Config): S3Store {
  const { bucket: Bucket, prefix, accessKeyId, secretAccessKey } = config
  const s3 = new S3Client({
    region: config.region,
    ...(config.endpoint ? { endpoint: config.endpoint } : {}),
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
    forcePathStyle: config.pathStyle,
    maxAttempts: INTENTOS,
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS },
    // Not every S3-compatible server understands the CRC trailers that recent versions of the SDK add. `save` sends
    // an MD5 instead.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const objectOf = (key: string) => ({ Bucket, Key: prefix + requireStorageKey(key) })
  const withDeadline = () => ({ abortSignal: AbortSignal.timeout(REQUEST_DEADLINE_MS) })
  return {
    async save(key, content, mime) {
      const ContentMD5 = createHash('md5').update(content).digest('base64')
      const command = new PutObjectCommand({ ...objectOf(key), Body: content, ContentType: mime, ContentMD5 })
      await orBusy(s3.send(command, withDeadline()))
    },
    async read(key, range) {
      const Range = range && `bytes=${range.desde}-${range.hasta}`
      const { Body } = await orBusy(s3.send(new GetObjectCommand({ ...objectOf(key), Range }), withDeadline()))
      return Body as Readable
    },
    link(key, { method, mime, disposition }) {
      const commandInput = {
        ...objectOf(key),
        ResponseContentType: mime,
        ResponseContentDisposition: disposition,
        ResponseCacheControl: 'no-store',
      }
      const command = method === 'HEAD' ? new HeadObjectCommand(commandInput) : new GetObjectCommand(commandInput)
      return orBusy(getSignedUrl(s3, command, { expiresIn: LINK_TTL_S }))
    },
    async exists(key) {
      try {
        await s3.send(new HeadObjectCommand(objectOf(key)), withDeadline())
        return true
      } catch (error) {
        if ((error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404) return false
        throw storeBusy(error)
      }
    },
    async remove(key) {
      const command = new DeleteObjectCommand(objectOf(key))
      try {
        await s3.send(command, withDeadline())
      } catch (error) {
        // Some servers report a missing object as an error, although the object needs no deletion.
        if ((error as Error).name !== 'NoSuchKey') throw storeBusy(error)
      }
    },
    async *list() {
      // Each page has its own time limit, so that a long listing does not time out.
      for (let ContinuationToken: string | undefined, hasMore = true; hasMore; ) {
        const command = new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken })
        const { Contents = [], NextContinuationToken } = await orBusy(s3.send(command, withDeadline()))
        for (const { Key = '', LastModified } of Contents) {
          const clave = Key.slice(prefix.length)
          if (isStorageKey(clave) && LastModified) yield { clave, modifiedAt: LastModified }
        }
        ContinuationToken = NextContinuationToken
        hasMore = ContinuationToken !== undefined
      }
    },
    async check() {
      try {
        await s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 }), withDeadline())
        return undefined
      } catch (error) {
        return explainFailure(error, config)
      }
    },
    close: () => s3.destroy(),
  }
}

/**
 * Converts every storage error to a `Problema` 503. The check at start (`check`) finds the errors that the operator
 * must correct.
 */
const orBusy = <T>(promise: Promise<T>): Promise<T> =>
  promise.catch((error) => {
    throw storeBusy(error)
  })

const REQUIRED_PERMISSIONS = 's3:ListBucket, s3:GetObject, s3:PutObject y s3:DeleteObject'

/**
 * Explains why the check of the bucket failed.
 * @returns a Spanish message for the operator if the failure may be temporary
 * @throws FileStoreError if the operator must correct the configuration
 */
function explainFailure(error: unknown, { bucket, region, endpoint = 'Amazon S3' }: S3Config): string {
  const {
    name = '',
    message = '',
    code,
    $metadata,
  } = error as Error & {
    code?: string
    $metadata?: { httpStatusCode?: number }
  }
  const status = $metadata?.httpStatusCode ?? 0
  const explanations: Record<string, string> = {
    NoSuchBucket: `el bucket «${bucket}» no existe en ${endpoint}. Créelo o corrija S3_BUCKET`,
    InvalidAccessKeyId: `${endpoint} no conoce esa clave de acceso. Corrija S3_ACCESS_KEY_ID`,
    SignatureDoesNotMatch:
      'la clave secreta no corresponde a la clave de acceso. Revise S3_ACCESS_KEY_ID y S3_SECRET_ACCESS_KEY',
    AccessDenied: `las credenciales no dan acceso al bucket «${bucket}». Hacen falta ${REQUIRED_PERMISSIONS}`,
    ExpiredToken: 'las credenciales de la máquina vencieron',
    CredentialsProviderError:
      'no hay credenciales. Dé S3_ACCESS_KEY_ID y S3_SECRET_ACCESS_KEY, o un perfil o rol a la máquina',
    RequestTimeTooSkewed: 'el reloj de esta máquina y el del almacén difieren demasiado. Ponga la máquina en hora',
    PermanentRedirect: `el bucket «${bucket}» no está en «${region}». Corrija S3_REGION`,
    AuthorizationHeaderMalformed: `el bucket «${bucket}» no está en «${region}». Corrija S3_REGION`,
  }
  const isNetworkError = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|EPROTO)/.test(code ?? '')
  const isForeign = isNetworkError || (status >= 300 && status < 500 && ![408, 429].includes(status))
  const explanation =
    explanations[name] ??
    (status === 403 ? explanations.AccessDenied : undefined) ??
    (isForeign
      ? `${endpoint} respondió «${name}: ${message.slice(0, 200)}». Revise S3_ENDPOINT y S3_PATH_STYLE`
      : undefined)
  if (explanation)
    throw new FileStoreError(`No se puede usar el almacén de archivos (STORAGE=s3): ${explanation}.`, { cause: error })
  return `El almacén de archivos no responde (${endpoint}: ${(code || message || name).slice(0, 200)}). Las subidas recibirán 503 hasta que vuelva.`
}
