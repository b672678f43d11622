import { withSvg } from '../images/sharp.ts'

/** SVG path of the parcel that the icon shows, in a square of 100 by 100. */
export const BOX_PATH = 'M50 19 80 33 50 47 20 33Zm-2 33v33L18 71V37Zm4 0 30-15v34L52 85Z'

/**
 * SVG of the icon of all pages. The icon is maskable: its drawing stays within the middle 80 %, and its background
 * reaches every edge.
 */
export const drawIcon = (color: string, rounded = true) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100"${rounded ? ' rx="22"' : ''} fill="${color}"/><path fill="#fff" d="${BOX_PATH}"/></svg>`

/** PNG icons for the installation of the courier page on a phone, by file name. */
export const ICONS = {
  'icono-192.png': { side: 192, rounded: true },
  'icono-512.png': { side: 512, rounded: true },
  'icono-entero.png': { side: 512, rounded: false },
  'icono-apple.png': { side: 180, rounded: false },
} as const
export type IconName = keyof typeof ICONS

/** Renders the icon in a colour, as PNG in each size. */
export const paintIcons = (color: string): Promise<ReadonlyMap<IconName, Buffer>> =>
  withSvg(async (sharp) => {
    const paint = async (name: IconName) => {
      const { side, rounded } = ICONS[name]
      const svg = Buffer.from(drawIcon(color, rounded))
      const drawing = sharp(svg, { density: (72 * side) / 100 }).resize(side, side)
      return [name, await drawing.png({ palette: true }).toBuffer()] as const
    }
    return new Map(await Promise.all((Object.keys(ICONS) as IconName[]).map(paint)))
  })
