import { withSvg } from '../images/sharp.ts'

const CAJA = '<path fill="#fff" d="M50 19 80 33 50 47 20 33Zm-2 33v33L18 71V37Zm4 0 30-15v34L52 85Z"/>'

/**
 * SVG of the icon of all pages. The icon is maskable: its drawing stays within the middle 80 %, and its background
 * reaches every edge.
 */
export const drawIcon = (color: string, redondeado = true) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100"${redondeado ? ' rx="22"' : ''} fill="${color}"/>${CAJA}</svg>`

/** PNG icons for the installation of the courier page on a phone, by file name. */
export const ICONS = {
  'icono-192.png': { lado: 192, redondeado: true },
  'icono-512.png': { lado: 512, redondeado: true },
  'icono-entero.png': { lado: 512, redondeado: false },
  'icono-apple.png': { lado: 180, redondeado: false },
} as const
export type IconName = keyof typeof ICONS

/** Renders the icon in a colour, as PNG in each size. */
export const paintIcons = (color: string): Promise<ReadonlyMap<IconName, Buffer>> =>
  withSvg(async (sharp) => {
    const pintar = async (nombre: IconName) => {
      const { lado, redondeado } = ICONS[nombre]
      const svg = Buffer.from(drawIcon(color, redondeado))
      const dibujo = sharp(svg, { density: (72 * lado) / 100 }).resize(lado, lado)
      return [nombre, await dibujo.png({ palette: true }).toBuffer()] as const
    }
    return new Map(await Promise.all((Object.keys(ICONS) as IconName[]).map(pintar)))
  })
