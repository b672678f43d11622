import { createHash } from 'node:crypto'
import { type Brand, needsName } from '../platform/brand/brand.ts'
import { drawIcon } from '../platform/brand/icon.ts'
import type { Drawing } from '../platform/brand/logo.ts'
import type { AssetFiles } from './assets.ts'
import { Html, html } from './html.ts'
import { byDigest, contentPolicy, IMMUTABLE_HEADERS } from './response.ts'

/**
 * Preview that a messaging app shows beside a link to a page, and keeps. It is the same for every link to that page.
 */
export interface LinkPreview {
  titulo: string
  descripcion: string
}

/** Background of the pages in dark mode, used as the browser's theme colour. A test compares it with `tokens.css`. */
export const DARK_BACKGROUND = '#0d1110'

/** Maximum size of a logo on a page, in CSS pixels. */
const CAJA = { ancho: 200, alto: 44 }

/** Maximum size of a logo in the bar of the documentation, in CSS pixels. */
const CAJA_DE_LECTURA = { ancho: 150, alto: 36 }

/** Returns the size of a drawing scaled to fit into a box, in whole pixels. */
function fit(dibujo: Drawing, caja: typeof CAJA) {
  const escala = Math.min(caja.ancho / dibujo.ancho, caja.alto / dibujo.alto)
  return { ancho: Math.round(dibujo.ancho * escala), alto: Math.round(dibujo.alto * escala) }
}

/** Brand as all pages show it. */
export class Front {
  readonly marca: Brand
  /** Images of the brand by their path from the service root, such as `/marca/…`. */
  readonly archivos: AssetFiles
  /** Path of the logo from the service root, without its first slash; undefined if the brand has no logo. */
  readonly rutaDelLogo: string | undefined
  readonly #urlPublica: string
  readonly #rutaDeVistaPrevia: string | undefined
  readonly #estilo: string

  constructor(marca: Brand, urlPublica: string) {
    this.marca = marca
    this.#urlPublica = urlPublica
    this.#estilo = `:root{--marca-dia:${marca.color};--marca-noche:${marca.colorDeNoche}}`
    const dibujos = marca.logo ? { logo: marca.logo, 'vista-previa': marca.logo.vistaPrevia } : {}
    const rutas = Object.entries(dibujos).map(([nombre, dibujo]) => [rutaDe(nombre, dibujo), dibujo] as const)
    this.archivos = new Map(
      rutas.map(([ruta, { png }]) => [
        `/${ruta}`,
        { tipo: 'image/png', cuerpo: { identity: () => Buffer.from(png) }, cabeceras: IMMUTABLE_HEADERS },
      ]),
    )
    ;[this.rutaDelLogo, this.#rutaDeVistaPrevia] = rutas.map(([ruta]) => ruta)
  }

  /**
   * Returns the headers Content-Security-Policy and Permissions-Policy of a page that shows the brand. They allow the
   * sources in `permite`, the brand's style and images, and the device features in `aparatos`, such as the camera.
   */
  permisos(...[permite, aparatos]: Parameters<typeof contentPolicy>) {
    const juntar = (...fuentes: (string | undefined)[]) => fuentes.filter(Boolean).join(' ')
    return contentPolicy(
      {
        ...permite,
        'style-src': juntar(permite['style-src'], byDigest(this.#estilo)),
        'img-src': juntar("'self' data:", permite['img-src']),
      },
      aparatos,
    )
  }

  /** Icon of every page, as SVG. */
  get icono(): string {
    return drawIcon(this.marca.color)
  }

  /**
   * Stylesheet of the brand for the documentation's page, where a class selects light or dark. It also contains the
   * logo, and the brand's name for the page's script. The name is hidden if the logo already shows it.
   */
  get estiloDeLectura(): string {
    const { nombre, color, colorDeNoche, logo } = this.marca
    const enlaces = (uno: string) => `{--link-color-primary:${uno}}`
    return `:root{--nombre:${JSON.stringify(nombre)};--marca-dia:${color};--marca-noche:${colorDeNoche}}:root:not(.dark)${enlaces(color)}:root.dark${enlaces(colorDeNoche)}${logo ? this.#logoDeLectura(logo) : ''}`
  }

  #logoDeLectura(logo: Drawing): string {
    const { ancho, alto } = fit(logo, CAJA_DE_LECTURA)
    const dibujo = `.barra .marca::before{content:"";width:${ancho}px;height:${alto}px;background-image:url(../${this.rutaDelLogo});background-position:center;background-repeat:no-repeat;background-size:contain;background-origin:content-box}`
    return needsName(logo)
      ? dibujo
      : `${dibujo}.barra .marca span{position:absolute;width:1px;overflow:hidden;clip-path:inset(50%)}`
  }

  /** Returns the brand's part of a page's head: icon, colours and link preview. */
  cabeza(previa: LinkPreview | undefined): Html {
    const { color, nombre } = this.marca
    return html`<meta name="theme-color" media="(prefers-color-scheme: light)" content="${color}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${DARK_BACKGROUND}">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(this.icono)}">
<style>${new Html(this.#estilo)}</style>
${
  previa &&
  html`<meta property="og:type" content="website">
<meta property="og:locale" content="es">
<meta property="og:site_name" content="${nombre}">
<meta property="og:title" content="${previa.titulo}">
<meta property="og:description" content="${previa.descripcion}">
<meta name="description" content="${previa.descripcion}">
${this.#imagenDeVistaPrevia()}`
}`
  }

  #imagenDeVistaPrevia(): Html | undefined {
    if (!this.#rutaDeVistaPrevia) return undefined
    const { ancho, alto } = this.marca.logo!.vistaPrevia
    return html`<meta property="og:image" content="${this.#urlPublica}/${this.#rutaDeVistaPrevia}">
<meta property="og:image:width" content="${ancho}">
<meta property="og:image:height" content="${alto}">
`
  }

  /**
   * Returns the header of every page, with the brand's logo or name.
   * @param raiz relative path from the page to the service root, such as `../`
   * @param inicio address that the brand links to
   */
  encabezado(raiz: string, inicio = raiz || './'): Html {
    const { logo, nombre } = this.marca
    return html`<header class="marca"><a href="${inicio}">${logo && this.#imagen(logo, raiz)}${(!logo || needsName(logo)) && html`<span>${nombre}</span>`}</a></header>`
  }

  #imagen(logo: Drawing, raiz: string): Html {
    const { ancho, alto } = fit(logo, CAJA)
    return html`<img src="${raiz}${this.rutaDelLogo}" alt="${needsName(logo) ? '' : this.marca.nombre}" width="${ancho}" height="${alto}">`
  }

  /**
   * Returns the footer of every page, with the brand's telephone; false if there is nothing to say.
   * @param nota further text, such as how the service uses the data that the page asks for
   * @param llamar false to leave the telephone out
   */
  pie(nota?: string, llamar = true): Html | false {
    const { nombre } = this.marca
    const telefono = llamar && this.marca.telefono
    if (!telefono && !nota) return false
    return html`<footer>${nota && html`<p>${nota}</p>`}${
      telefono &&
      html`<p>¿Necesita ayuda? Llame a ${nombre}: <a href="tel:${telefono.e164}">${telefono.visible}</a></p>`
    }</footer>\n`
  }
}

const rutaDe = (nombre: string, { png }: Drawing) =>
  `marca/${nombre}.${createHash('sha256').update(png).digest('hex').slice(0, 12)}.png`
