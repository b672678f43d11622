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
import { type Almacen, almacenOcupado, ErrorDeAlmacen, esClave, exigirClave } from './almacen.ts'

/** How to reach a bucket of Amazon S3, or of whatever speaks its language. */
export interface ConfigDeS3 {
  bucket: string
  region: string
  /** Undefined: Amazon's own. */
  endpoint: string | undefined
  /** Whether the bucket stands in the path rather than in the host's name. */
  enLaRuta: boolean
  /** With `secretAccessKey`, or neither: then the machine has its own (profile, role, container). */
  accessKeyId: string | undefined
  secretAccessKey: string | undefined
  /** What keys begin with: '', or a path that ends with a slash. */
  prefijo: string
}

/** A storage in a bucket, which can be asked whether it works, and closed. */
export interface AlmacenS3 extends Almacen {
  /** What keeps it from being used just now; undefined: nothing. @throws ErrorDeAlmacen what waiting doesn't mend */
  comprobar(): Promise<string | undefined>
  cerrar(): void
}

/** In milliseconds: to connect, without a byte either way, and for an operation with its repetitions and its body. */
const CONEXION = 2_000
const SILENCIO = 4_000
const PLAZO = 10_000
const INTENTOS = 3
/** Of a link of the storage's own, in seconds. Whoever was sent there follows at once. */
const VIGENCIA = 300

/** Creates a storage in a bucket of Amazon S3, or of whatever speaks its language. */
export function crearAlmacenS3(config: ConfigDeS3): AlmacenS3 {
  const { bucket: Bucket, prefijo, accessKeyId, secretAccessKey } = config
  const s3 = new S3Client({
    region: config.region,
    ...(config.endpoint ? { endpoint: config.endpoint } : {}),
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
    forcePathStyle: config.enLaRuta,
    maxAttempts: INTENTOS,
    requestHandler: { connectionTimeout: CONEXION, socketTimeout: SILENCIO },
    // What the SDK adds by itself of late (CRC trailers) not every S3-compatible server understands: we send the MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const objeto = (clave: string) => ({ Bucket, Key: prefijo + exigirClave(clave) })
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
    async borrar(clave) {
      const orden = new DeleteObjectCommand(objeto(clave))
      try {
        await s3.send(orden, plazo())
      } catch (error) {
        // Some servers say so.
        if ((error as Error).name !== 'NoSuchKey') throw almacenOcupado(error)
      }
    },
    async *listar() {
      // Each page has its own time limit, however many there are.
      for (let ContinuationToken: string | undefined, mas = true; mas; ) {
        const orden = new ListObjectsV2Command({ Bucket, Prefix: prefijo, ContinuationToken })
        const { Contents = [], NextContinuationToken } = await oOcupado(s3.send(orden, plazo()))
        for (const { Key = '', LastModified } of Contents) {
          const clave = Key.slice(prefijo.length)
          if (esClave(clave) && LastModified) yield { clave, modificado_en: LastModified }
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
 * Whatever goes wrong between us and the storage is "not now": what waiting doesn't mend was looked for at the start.
 */
const oOcupado = <T>(hecho: Promise<T>): Promise<T> =>
  hecho.catch((error) => {
    throw almacenOcupado(error)
  })

const PERMISOS = 's3:ListBucket, s3:GetObject, s3:PutObject y s3:DeleteObject'

/** What a failed check means: thrown if somebody has to mend it, returned if it may pass. */
function explicar(error: unknown, { bucket, region, endpoint = 'Amazon S3' }: ConfigDeS3): string {
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
  if (caso) throw new ErrorDeAlmacen(`No se puede usar el almacén de archivos (STORAGE=s3): ${caso}.`, { cause: error })
  return `El almacén de archivos no responde (${endpoint}: ${(code || message || name).slice(0, 200)}). Las subidas recibirán 503 hasta que vuelva.`
}
