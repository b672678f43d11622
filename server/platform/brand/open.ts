import type { Config } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { BrandImages } from './brand.ts'
import { DEFAULT_COLOR } from './color.ts'

/**
 * Creates the images of the configured brand. Loads no modules for images if neither a logo nor a custom colour is
 * configured.
 */
export async function openBrand({ brandLogo, brandColor }: Config, log: Log): Promise<BrandImages> {
  const hasColor = brandColor !== DEFAULT_COLOR
  const icons = hasColor ? await (await import('./icon.ts')).paintIcons(brandColor) : null
  if (brandLogo === undefined) return { logo: null, icons }
  const { prepareLogo, LogoUnavailable } = await import('./logo.ts')
  try {
    return { logo: await prepareLogo(brandLogo), icons }
  } catch (err) {
    if (!(err instanceof LogoUnavailable)) throw err
    log.warn({ err }, 'logo not loaded; showing the brand name instead')
    return { logo: null, icons }
  }
}
