import { createHash } from 'node:crypto'
import { type Brand, needsName } from '../platform/brand/brand.ts'
import { BOX_PATH, drawIcon } from '../platform/brand/icon.ts'
import type { Drawing } from '../platform/brand/logo.ts'
import { Html, html } from '../platform/html.ts'
import type { AssetFiles } from './assets.ts'
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
const LOGO_BOX = { ancho: 200, alto: 44 }

/** Maximum size of a logo in the bar of the documentation, in CSS pixels. */
const READING_LOGO_BOX = { ancho: 150, alto: 36 }

/** Returns the size of a drawing scaled to fit into a box, in whole pixels. */
function fit(drawing: Drawing, box: typeof LOGO_BOX) {
  const scale = Math.min(box.ancho / drawing.ancho, box.alto / drawing.alto)
  return { ancho: Math.round(drawing.ancho * scale), alto: Math.round(drawing.alto * scale) }
}

/** Icon of the pages in the colours of the brand, by day and at night. */
const MARK = html`<svg class="sello" viewBox="0 0 100 100" width="28" height="28" aria-hidden="true"><rect width="100" height="100" rx="22"/><path d="${BOX_PATH}"/></svg>`

/** Brand as all pages show it. */
export class Front {
  readonly brand: Brand
  /** Images of the brand by their path from the service root, such as `/marca/…`. */
  readonly archivos: AssetFiles
  /** Path of the logo from the service root, without its first slash; undefined if the brand has no logo. */
  readonly logoPath: string | undefined
  readonly #publicUrl: string
  readonly #previewPath: string | undefined
  readonly #style: string

  constructor(brand: Brand, publicUrl: string) {
    this.brand = brand
    this.#publicUrl = publicUrl
    this.#style = `:root{--marca-dia:${brand.color};--marca-noche:${brand.nightColor}}`
    const drawings = brand.logo ? { logo: brand.logo, 'vista-previa': brand.logo.preview } : {}
    const drawingPaths = Object.entries(drawings).map(
      ([name, drawing]) => [drawingPath(name, drawing), drawing] as const,
    )
    this.archivos = new Map(
      drawingPaths.map(([path, { png }]) => [
        `/${path}`,
        { tipo: 'image/png', body: { identity: () => Buffer.from(png) }, headers: IMMUTABLE_HEADERS },
      ]),
    )
    ;[this.logoPath, this.#previewPath] = drawingPaths.map(([path]) => path)
  }

  /**
   * Returns the headers Content-Security-Policy and Permissions-Policy of a page that shows the brand. They allow the
   * sources in `allowedSources`, the brand's style and images, and the device features in `deviceFeatures`, such as the camera.
   */
  policyHeaders(...[allowedSources, deviceFeatures]: Parameters<typeof contentPolicy>) {
    const joinSources = (...sources: (string | undefined)[]) => sources.filter(Boolean).join(' ')
    return contentPolicy(
      {
        ...allowedSources,
        'style-src': joinSources(allowedSources['style-src'], byDigest(this.#style)),
        'img-src': joinSources("'self' data:", allowedSources['img-src']),
      },
      deviceFeatures,
    )
  }

  /** Icon of every page, as SVG. */
  get icon(): string {
    return drawIcon(this.brand.color)
  }

  /**
   * Stylesheet of the brand for the documentation's page, where a class selects light or dark. It also contains the
   * logo or, without one, the icon, and the brand's name for the page's script. The name is hidden if the logo already
   * shows it.
   */
  get readingStyle(): string {
    const { nombre, color, nightColor, logo } = this.brand
    return `:root{--nombre:${JSON.stringify(nombre)};--marca-dia:${color};--marca-noche:${nightColor}}${logo ? this.#renderReadingLogo(logo) : this.#renderReadingIcon()}`
  }

  #renderReadingLogo(logo: Drawing): string {
    const { ancho, alto } = fit(logo, READING_LOGO_BOX)
    const logoRule = `.barra .marca::before{content:"";width:${ancho}px;height:${alto}px;background-image:url(../${this.logoPath});background-position:center;background-repeat:no-repeat;background-size:contain;background-origin:content-box}`
    return needsName(logo)
      ? logoRule
      : `${logoRule}.barra .marca span{position:absolute;width:1px;overflow:hidden;clip-path:inset(50%)}`
  }

  #renderReadingIcon(): string {
    return `.barra .marca::before{content:"";flex:none;width:28px;height:28px;margin:0;padding:0;background:url("data:image/svg+xml,${encodeURIComponent(this.icon)}")}`
  }

  /** Returns the brand's part of a page's head: icon, colours and link preview. */
  head(preview: LinkPreview | undefined): Html {
    const { color, nombre } = this.brand
    return html`<meta name="theme-color" media="(prefers-color-scheme: light)" content="${color}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${DARK_BACKGROUND}">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(this.icon)}">
<style>${new Html(this.#style)}</style>
${
  preview &&
  html`<meta property="og:type" content="website">
<meta property="og:locale" content="es">
<meta property="og:site_name" content="${nombre}">
<meta property="og:title" content="${preview.titulo}">
<meta property="og:description" content="${preview.descripcion}">
<meta name="description" content="${preview.descripcion}">
${this.#renderPreviewImage()}`
}`
  }

  #renderPreviewImage(): Html | undefined {
    if (!this.#previewPath) return undefined
    const { ancho, alto } = this.brand.logo!.preview
    return html`<meta property="og:image" content="${this.#publicUrl}/${this.#previewPath}">
<meta property="og:image:width" content="${ancho}">
<meta property="og:image:height" content="${alto}">
`
  }

  /**
   * Returns the header of every page, with the mark of the brand.
   * @param root relative path from the page to the service root, such as `../`
   * @param home address that the brand links to
   */
  renderHeader(root: string, home = root || './'): Html {
    return html`<header class="marca"><a href="${home}">${this.renderMark(root)}</a></header>`
  }

  /**
   * Returns the mark of the brand: its logo or, without one, the icon and the brand's name.
   * @param root relative path from the page to the service root, such as `../`
   */
  renderMark(root: string): Html {
    const { logo, nombre } = this.brand
    return html`${logo ? this.#renderImage(logo, root) : MARK}${(!logo || needsName(logo)) && html`<span>${nombre}</span>`}`
  }

  #renderImage(logo: Drawing, root: string): Html {
    const { ancho, alto } = fit(logo, LOGO_BOX)
    return html`<img src="${root}${this.logoPath}" alt="${needsName(logo) ? '' : this.brand.nombre}" width="${ancho}" height="${alto}">`
  }

  /**
   * Returns the footer of every page, with the brand's telephone; false if there is nothing to say.
   * @param nota further text, such as how the service uses the data that the page asks for
   * @param canCall false to leave the telephone out
   */
  renderFooter(nota?: string, canCall = true): Html | false {
    const { nombre } = this.brand
    const telefono = canCall && this.brand.telefono
    if (!telefono && !nota) return false
    return html`<footer>${nota && html`<p>${nota}</p>`}${
      telefono &&
      html`<p>¿Necesita ayuda? Llame a ${nombre}: <a href="tel:${telefono.e164}">${telefono.visible}</a></p>`
    }</footer>\n`
  }
}

const drawingPath = (name: string, { png }: Drawing) =>
  `marca/${name}.${createHash('sha256').update(png).digest('hex').slice(0, 12)}.png`
