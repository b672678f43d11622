import type { Config } from '../config/config.ts'
import { deNoche } from './color.ts'
import type { NombreDeIcono } from './icono.ts'
import type { Dibujo, Logo } from './logo.ts'

/** The courier company's face, which is the same on pages, messages, labels and documents. */
export interface Marca {
  nombre: string
  /** The colour by day, `#rrggbb`: it can be read on white, and white on it. */
  color: string
  /** The colour at night. */
  colorDeNoche: string
  /** The telephone of whoever helps. */
  telefono: Config['telefonoDeAyuda']
  logo: Logo | null
  /** The courier's page's icons in the colour; null: those that were generated with the default one. */
  iconos: ReadonlyMap<NombreDeIcono, Buffer> | null
}

/** The brand as documents show it: plain data that goes to a thread. */
export interface MarcaDeDocumento extends Pick<Marca, 'nombre' | 'color'> {
  logo: { color: Dibujo; negro: Dibujo } | null
}

export const paraDocumentos = ({ nombre, color, logo }: Marca): MarcaDeDocumento => ({
  nombre,
  color,
  logo: logo && { color: { png: logo.png, ancho: logo.ancho, alto: logo.alto }, negro: logo.negro },
})

/** Whether a logo is so narrow that there is no name in it that could be read: then the name stands beside it. */
export const pideNombre = ({ ancho, alto }: Pick<Dibujo, 'ancho' | 'alto'>) => ancho < 2 * alto

/** The pictures of a brand, which are made at start. */
export type ImagenesDeMarca = Pick<Marca, 'logo' | 'iconos'>
export const SIN_IMAGENES: ImagenesDeMarca = { logo: null, iconos: null }

type DeMarca = 'nombreDeMarca' | 'colorDeMarca' | 'telefonoDeAyuda'

/** The brand of a configuration. */
export const marcaDe = (config: Pick<Config, DeMarca>, imagenes: ImagenesDeMarca): Marca => ({
  nombre: config.nombreDeMarca,
  color: config.colorDeMarca,
  colorDeNoche: deNoche(config.colorDeMarca),
  telefono: config.telefonoDeAyuda,
  ...imagenes,
})
