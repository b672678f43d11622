import { createHash } from 'node:crypto'
import { dibujarIcono } from '../marca/icono.ts'
import type { Dibujo } from '../marca/logo.ts'
import { type Marca, pideNombre } from '../marca/marca.ts'
import type { Archivos } from './archivos.ts'
import { Html, html } from './html.ts'
import { FIJA, permisos, porHuella } from './respuesta.ts'

/** What a messaging app shows beside a link to a page, and keeps: the same for everybody, whatever the link is of. */
export interface VistaPrevia {
  titulo: string
  descripcion: string
}

/** The pages' ground at night, around which a browser goes on; a test holds it against `base.css`. */
export const FONDO_DE_NOCHE = '#111614'

/** The greatest size of a logo on a page, in CSS pixels. */
const CAJA = { ancho: 200, alto: 44 }

/** The brand as all pages show it. */
export class Fachada {
  readonly marca: Marca
  /** The pictures of the brand, by their paths from where the service begins, such as `/marca/…`. */
  readonly archivos: Archivos
  /** The logo's path from where the service begins, without its first slash. */
  readonly rutaDelLogo: string | undefined
  readonly #urlPublica: string
  readonly #rutaDeVistaPrevia: string | undefined
  readonly #estilo: string

  constructor(marca: Marca, urlPublica: string) {
    this.marca = marca
    this.#urlPublica = urlPublica
    this.#estilo = `:root{--marca:${marca.color}}@media(prefers-color-scheme:dark){:root{--marca:${marca.colorDeNoche}}}`
    const dibujos = marca.logo ? { logo: marca.logo, 'vista-previa': marca.logo.vistaPrevia } : {}
    const rutas = Object.entries(dibujos).map(([nombre, dibujo]) => [rutaDe(nombre, dibujo), dibujo] as const)
    this.archivos = new Map(
      rutas.map(([ruta, { png }]) => [
        `/${ruta}`,
        { tipo: 'image/png', cuerpo: { identity: () => Buffer.from(png) }, cabeceras: FIJA },
      ]),
    )
    ;[this.rutaDelLogo, this.#rutaDeVistaPrevia] = rutas.map(([ruta]) => ruta)
  }

  /** The headers that say what a page in the frame may do: what `permite` names, and to show the brand. */
  permisos(...[permite, aparatos]: Parameters<typeof permisos>) {
    const juntar = (...fuentes: (string | undefined)[]) => fuentes.filter(Boolean).join(' ')
    return permisos(
      {
        ...permite,
        'style-src': juntar(permite['style-src'], porHuella(this.#estilo)),
        'img-src': juntar("'self' data:", permite['img-src']),
      },
      aparatos,
    )
  }

  /** The icon of every page, as SVG. */
  get icono(): string {
    return dibujarIcono(this.marca.color)
  }

  /** The colours of the documentation's reading view, which chooses light or dark by a class, and the name for its program. */
  get estiloDeLectura(): string {
    const { nombre, color, colorDeNoche } = this.marca
    const enlaces = (uno: string) => `{--link-color-primary:${uno}}`
    return `:root{--nombre:${JSON.stringify(nombre)}}:root:not(.dark)${enlaces(color)}:root.dark${enlaces(colorDeNoche)}`
  }

  /** The part of a page's head that the brand gives: icon, colours, and what is shown beside links to it. */
  cabeza(previa: VistaPrevia | undefined): Html {
    const { color, nombre } = this.marca
    return html`<meta name="theme-color" media="(prefers-color-scheme: light)" content="${color}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${FONDO_DE_NOCHE}">
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
   * The head of every page: whose it is.
   * @param raiz the way from the page up to where the service begins, such as `../`
   * @param inicio where the brand leads to
   */
  encabezado(raiz: string, inicio = raiz || './'): Html {
    const { logo, nombre } = this.marca
    return html`<header class="marca"><a href="${inicio}">${logo && this.#imagen(logo, raiz)}${(!logo || pideNombre(logo)) && html`<span>${nombre}</span>`}</a></header>`
  }

  #imagen(logo: Dibujo, raiz: string): Html {
    const escala = Math.min(CAJA.ancho / logo.ancho, CAJA.alto / logo.alto)
    const [ancho, alto] = [logo.ancho, logo.alto].map((lado) => Math.round(lado * escala)) as [number, number]
    return html`<img src="${raiz}${this.rutaDelLogo}" alt="${pideNombre(logo) ? '' : this.marca.nombre}" width="${ancho}" height="${alto}">`
  }

  /**
   * The foot of every page: whom to call.
   * @param nota what else it says, such as what becomes of what the page asks for
   */
  pie(nota?: string): Html | false {
    const { telefono, nombre } = this.marca
    if (!telefono && !nota) return false
    return html`<footer>${nota && html`<p>${nota}</p>`}${
      telefono &&
      html`<p>¿Necesita ayuda? Llame a ${nombre}: <a href="tel:${telefono.e164}">${telefono.visible}</a></p>`
    }</footer>\n`
  }
}

const rutaDe = (nombre: string, { png }: Dibujo) =>
  `marca/${nombre}.${createHash('sha256').update(png).digest('hex').slice(0, 12)}.png`
