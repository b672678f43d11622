import type { Config } from '../config/config.ts'
import { deNoche } from './color.ts'
import type { NombreDeIcono } from './icon.ts'
import type { Dibujo, Logo } from './logo.ts'

/** Brand of the courier company. It is the same on pages, messages, labels and documents. */
export interface Marca {
  nombre: string
  /** Colour in the light theme, `#rrggbb`. It is readable on white, and white is readable on it. */
  color: string
  /** Colour in the dark theme. */
  colorDeNoche: string
  /** Telephone number that recipients and couriers call for help; null if none is configured. */
  telefono: Config['telefonoDeAyuda']
  logo: Logo | null
  /**
   * Icons of the courier page in the brand colour; null for the default colour, whose icons are generated in advance.
   */
  iconos: ReadonlyMap<NombreDeIcono, Buffer> | null
}

/** Brand for documents: plain data that can be passed to a worker thread. */
export interface MarcaDeDocumento extends Pick<Marca, 'nombre' | 'color'> {
  logo: { color: Dibujo; negro: Dibujo } | null
}

/** Converts the brand to the data that documents need. */
export const paraDocumentos = ({ nombre, color, logo }: Marca): MarcaDeDocumento => ({
  nombre,
  color,
  logo: logo && { color: { png: logo.png, ancho: logo.ancho, alto: logo.alto }, negro: logo.negro },
})

/** Reports whether a logo is too narrow to contain a readable name. The brand name is then shown beside the logo. */
export const pideNombre = ({ ancho, alto }: Pick<Dibujo, 'ancho' | 'alto'>) => ancho < 2 * alto

/** Images of a brand, created at start. */
export type ImagenesDeMarca = Pick<Marca, 'logo' | 'iconos'>
export const SIN_IMAGENES: ImagenesDeMarca = { logo: null, iconos: null }

type DeMarca = 'nombreDeMarca' | 'colorDeMarca' | 'telefonoDeAyuda'

/** Creates the brand from the configuration and its images. */
export const marcaDe = (config: Pick<Config, DeMarca>, imagenes: ImagenesDeMarca): Marca => ({
  nombre: config.nombreDeMarca,
  color: config.colorDeMarca,
  colorDeNoche: deNoche(config.colorDeMarca),
  telefono: config.telefonoDeAyuda,
  ...imagenes,
})
