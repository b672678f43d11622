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
  enLaRuta: boolean
  /**
   * Access key, set together with `secretAccessKey`. If both are undefined, the SDK uses the machine's own credentials
   * (profile, role or container).
   */
  accessKeyId: string | undefined
  secretAccessKey: string | undefined
  /** Prefix of every key: empty, or a path that ends with a slash. */
  prefijo: string
}

/** Storage in an S3 bucket, which can also check whether it is available, and close its client. */
export interface S3Store extends FileStore {
  /**
   * Checks that the bucket answers.
   * @returns undefined, or a Spanish message for the operator if the failure may be temporary
   * @throws FileStoreError if the operator must correct the configuration
   */
  comprobar(): Promise<string | undefined>
  cerrar(): void
}

/**
 * Timeouts in milliseconds. `CONEXION`: to connect. `SILENCIO`: no data on the socket. `PLAZO`: one operation with its
 * retries and its body.
 */
const CONEXION = 2_000
const SILENCIO = 4_000
const PLAZO = 10_000
const INTENTOS = 3
/** Lifetime in seconds of a link to the storage itself. A client follows the redirect at once. */
const VIGENCIA = 300

/** Creates a storage in a bucket of Amazon S3 or of an S3-compatible service. */
export function createS3Store(config: S3Config): S3Store {
  const { bucket: Bucket, prefijo, accessKeyId, secretAccessKey } = config
  const s3 = new S3Client({
    region: config.region,
    ...(config.endpoint ? { endpoint: config.endpoint } : {}),
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
    forcePathStyle: config.enLaRuta,
    maxAttempts: INTENTOS,
    requestHandler: { connectionTimeout: CONEXION, socketTimeout: SILENCIO },
    // Not every S3-compatible server understands the CRC trailers that recent versions of the SDK add. `guardar` sends
    // an MD5 instead.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const objeto = (clave: string) => ({ Bucket, Key: prefijo + requireStorageKey(clave) })
  const plazo = () => ({ abortSignal: AbortSignal.timeout(PLAZO) })
  return {
    async guardar(clave, contenido, mime) {
      const ContentMD5 = createHash('md5').update(contenido).digest('base64')
      const orden = new PutObjectCommand({ ...objeto(clave), Body: contenido, ContentType: mime, ContentMD5 })
      await oOcupado(s3.send(orden, plazo()))
    },
    async leer(clave, rango) {
      const Range = rango && `bytes=${rango.desde}-${rango.hasta}`
      const { Body } = await oOcupado(s3.send(new GetObjectCommand({ ...objeto(clave), Range }), plazo()))
      return Body as Readable
    },
    enlazar(clave, { metodo, mime, disposicion }) {
      const entrada = {
        ...objeto(clave),
        ResponseContentType: mime,
        ResponseContentDisposition: disposicion,
        ResponseCacheControl: 'no-store',
      }
      const orden = metodo === 'HEAD' ? new HeadObjectCommand(entrada) : new GetObjectCommand(entrada)
      return oOcupado(getSignedUrl(s3, orden, { expiresIn: VIGENCIA }))
    },
    async existe(clave) {
      try {
        await s3.send(new HeadObjectCommand(objeto(clave)), plazo())
        return true
      } catch (error) {
        if ((error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404) return false
        throw storeBusy(error)
      }
    },
    async borrar(clave) {
      const orden = new DeleteObjectCommand(objeto(clave))
      try {
        await s3.send(orden, plazo())
      } catch (error) {
        // Some servers report a missing object as an error, although the object needs no deletion.
        if ((error as Error).name !== 'NoSuchKey') throw storeBusy(error)
      }
    },
    async *listar() {
      // Each page has its own time limit, so that a long listing does not time out.
      for (let ContinuationToken: string | undefined, mas = true; mas; ) {
        const orden = new ListObjectsV2Command({ Bucket, Prefix: prefijo, ContinuationToken })
        const { Contents = [], NextContinuationToken } = await oOcupado(s3.send(orden, plazo()))
        for (const { Key = '', LastModified } of Contents) {
          const clave = Key.slice(prefijo.length)
          if (isStorageKey(clave) && LastModified) yield { clave, modificado_en: LastModified }
        }
        ContinuationToken = NextContinuationToken
        mas = ContinuationToken !== undefined
      }
    },
    async comprobar() {
      try {
        await s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefijo, MaxKeys: 1 }), plazo())
        return undefined
      } catch (error) {
        return explicar(error, config)
      }
    },
    cerrar: () => s3.destroy(),
  }
}

/**
 * Converts every storage error to a `Problema` 503. The check at start (`comprobar`) finds the errors that the operator
 * must correct.
 */
const oOcupado = <T>(hecho: Promise<T>): Promise<T> =>
  hecho.catch((error) => {
    throw storeBusy(error)
  })

const PERMISOS = 's3:ListBucket, s3:GetObject, s3:PutObject y s3:DeleteObject'

/**
 * Explains why the check of the bucket failed.
 * @returns a Spanish message for the operator if the failure may be temporary
 * @throws FileStoreError if the operator must correct the configuration
 */
function explicar(error: unknown, { bucket, region, endpoint = 'Amazon S3' }: S3Config): string {
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
  const casos: Record<string, string> = {
    NoSuchBucket: `el bucket «${bucket}» no existe en ${endpoint}. Créelo o corrija S3_BUCKET`,
    InvalidAccessKeyId: `${endpoint} no conoce esa clave de acceso. Corrija S3_ACCESS_KEY_ID`,
    SignatureDoesNotMatch:
      'la clave secreta no corresponde a la clave de acceso. Revise S3_ACCESS_KEY_ID y S3_SECRET_ACCESS_KEY',
    AccessDenied: `las credenciales no dan acceso al bucket «${bucket}». Hacen falta ${PERMISOS}`,
    ExpiredToken: 'las credenciales de la máquina vencieron',
    CredentialsProviderError:
      'no hay credenciales. Dé S3_ACCESS_KEY_ID y S3_SECRET_ACCESS_KEY, o un perfil o rol a la máquina',
    RequestTimeTooSkewed: 'el reloj de esta máquina y el del almacén difieren demasiado. Ponga la máquina en hora',
    PermanentRedirect: `el bucket «${bucket}» no está en «${region}». Corrija S3_REGION`,
    AuthorizationHeaderMalformed: `el bucket «${bucket}» no está en «${region}». Corrija S3_REGION`,
  }
  const deLaRed = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|EPROTO)/.test(code ?? '')
  const ajeno = deLaRed || (status >= 300 && status < 500 && ![408, 429].includes(status))
  const caso =
    casos[name] ??
    (status === 403 ? casos.AccessDenied : undefined) ??
    (ajeno
      ? `${endpoint} respondió «${name}: ${message.slice(0, 200)}». Revise S3_ENDPOINT y S3_PATH_STYLE`
      : undefined)
  if (caso) throw new FileStoreError(`No se puede usar el almacén de archivos (STORAGE=s3): ${caso}.`, { cause: error })
  return `El almacén de archivos no responde (${endpoint}: ${(code || message || name).slice(0, 200)}). Las subidas recibirán 503 hasta que vuelva.`
}
