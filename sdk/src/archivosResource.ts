import { hexadecimalDe, webCrypto } from './bytes.js'
import { buildOtherRequest } from './call.js'
import type { ResourceClient } from './client.js'
import { ErrorGuias } from './errors.js'
import type { OpcionesDeSolicitud } from './options.js'
import { Solicitud } from './request.js'
import { isFileContent } from './shapes.js'

/** Archivo de una respuesta: una foto, la firma o el PDF de una prueba, o el enlace de una etiqueta. */
export interface ArchivoPorDescargar {
  /** Enlace firmado. */
  url: string
  /** Huella SHA-256 del archivo, en hexadecimal. Con ella se comprueba que llegó entero. */
  sha256?: string
}

/** Los archivos que las respuestas nombran con un enlace firmado. */
export class RecursoArchivos {
  readonly #send: ResourceClient['send']

  /**
   * Creates the resource; only the client `Guias` calls it.
   * @internal
   */
  constructor({ send }: ResourceClient) {
    this.#send = send
  }

  /**
   * Descarga un archivo por su enlace firmado, sin la llave, y da sus bytes. Repite lo pasajero, como las demás
   * solicitudes. Si el archivo trae su huella, comprueba que llegó entero. Un enlace vencido es un `ErrorAlcance`
   * (`enlace_invalido`): pida la respuesta otra vez.
   *
   * ```ts
   * const { fotos } = await api.guias.pruebaEntrega(guia)
   * for (const foto of fotos) await writeFile(`${foto.archivo}.jpg`, await api.archivos.descargar(foto))
   * ```
   */
  descargar(archivo: ArchivoPorDescargar | string, opciones?: OpcionesDeSolicitud): Solicitud<Uint8Array<ArrayBuffer>> {
    const { url, sha256 }: ArchivoPorDescargar = typeof archivo === 'string' ? { url: archivo } : Object(archivo)
    const prepareRequest = () => {
      if (!/^https?:/.test(url)) throw new ErrorGuias('descargar espera un enlace, o un archivo con su url.')
      return { ...buildOtherRequest('GET', '/', {}), ruta: url, accepts: '*/*', needsLlave: false }
    }
    return new Solicitud(
      this.#send(prepareRequest, isFileContent, opciones).then(async (respuesta) => {
        const huella = async () => new Uint8Array(await subtle().digest('SHA-256', respuesta.datos))
        if (!sha256 || hexadecimalDe(await huella()) === sha256) return respuesta
        throw new ErrorGuias('El archivo no llegó como se guardó (sha256): descárguelo otra vez.')
      }),
    )
  }
}

const subtle = () => webCrypto((mensaje) => new ErrorGuias(mensaje))
