import type { Config } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { ImagenesDeMarca } from './brand.ts'
import { COLOR_DE_SIEMPRE } from './color.ts'

/**
 * Creates the images of the configured brand. Loads no modules for images if neither a logo nor a custom colour is
 * configured.
 */
export async function abrirMarca({ logoDeMarca, colorDeMarca }: Config, log: Log): Promise<ImagenesDeMarca> {
  const conColor = colorDeMarca !== COLOR_DE_SIEMPRE
  const iconos = conColor ? await (await import('./icon.ts')).pintarIconos(colorDeMarca) : null
  if (logoDeMarca === undefined) return { logo: null, iconos }
  const { prepararLogo, SinRespuesta } = await import('./logo.ts')
  try {
    return { logo: await prepararLogo(logoDeMarca), iconos }
  } catch (err) {
    if (!(err instanceof SinRespuesta)) throw err
    log.warn({ err }, 'logo not loaded; showing the brand name instead')
    return { logo: null, iconos }
  }
}
