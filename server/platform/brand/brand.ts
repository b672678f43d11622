import type { Config } from '../config/config.ts'
import { forDarkMode } from './color.ts'
import type { IconName } from './icon.ts'
import type { Drawing, Logo } from './logo.ts'

/** Brand of the courier company. It is the same on pages, messages, labels and documents. */
export interface Brand {
  nombre: string
  /** Colour in the light theme, `#rrggbb`. It is readable on white, and white is readable on it. */
  color: string
  /** Colour in the dark theme. */
  nightColor: string
  /** Telephone number that recipients and couriers call for help; null if none is configured. */
  telefono: Config['helpPhone']
  logo: Logo | null
  /**
   * Icons of the courier page in the brand colour; null for the default colour, whose icons are generated in advance.
   */
  icons: ReadonlyMap<IconName, Buffer> | null
}

/** Brand for documents: plain data that can be passed to a worker thread. */
export interface DocumentBrand extends Pick<Brand, 'nombre' | 'color'> {
  logo: { color: Drawing; black: Drawing } | null
}

/** Converts the brand to the data that documents need. */
export const forDocuments = ({ nombre, color, logo }: Brand): DocumentBrand => ({
  nombre,
  color,
  logo: logo && { color: { png: logo.png, ancho: logo.ancho, alto: logo.alto }, black: logo.black },
})

/** Reports whether a logo is too narrow to contain a readable name. The brand name is then shown beside the logo. */
export const needsName = ({ ancho, alto }: Pick<Drawing, 'ancho' | 'alto'>) => ancho < 2 * alto

/** Images of a brand, created at start. */
export type BrandImages = Pick<Brand, 'logo' | 'icons'>
export const NO_IMAGES: BrandImages = { logo: null, icons: null }

type BrandVariable = 'brandName' | 'brandColor' | 'helpPhone'

/** Creates the brand from the configuration and its images. */
export const brandOf = (config: Pick<Config, BrandVariable>, images: BrandImages): Brand => ({
  nombre: config.brandName,
  color: config.brandColor,
  nightColor: forDarkMode(config.brandColor),
  telefono: config.helpPhone,
  ...images,
})
