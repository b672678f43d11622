import { type Html, html } from '../../platform/html.ts'
import type { Point } from '../../platform/maps/point.ts'
import { TILE_SIDE, tilesAround } from '../../platform/maps/tileGrid.ts'
import { readAssets } from '../assets.ts'
import { PIN_OUTLINE, PIN_TIP } from './pin.ts'

/** Source of the map tiles. */
export interface Tiles {
  /** URL template of the tiles: `https://…/{z}/{x}/{y}.png`, possibly with `{s}` and `{r}`. */
  url: string
  /** Credit that the provider of the map requires, as plain text. */
  attribution: string
}

let files: ReturnType<typeof readFiles> | undefined
const readFiles = () =>
  readAssets('pages/location/', 'u-recursos/', ['navegador.js', 'estilo.css', 'mapa.js', 'mapa.css', 'relato.css'])

/** Returns the files of `/u/{token}`. The page of decisions shows the same map, so they are read once. */
export const locationFiles = () => (files ??= readFiles())

/** Map tiles, and the paths of the files that show them. */
export interface MapData extends Tiles {
  modulePath: string
  style: string
}

/**
 * Returns the function that gives a page its map, from the relative path between the page and the service root. The map
 * is null if the service offers none.
 */
export function mapOf(tiles: Tiles | null): (root: string) => MapData | null {
  const { path } = locationFiles()
  return (root) => tiles && { ...tiles, modulePath: root + path('mapa.js'), style: root + path('mapa.css') }
}

/**
 * Returns the origin of the map tiles for a page's Content-Security-Policy; undefined if the service offers no map.
 * @throws Error if the source of the map tiles is not an HTTP or HTTPS address that the policy can contain
 */
export function tileOrigin(tiles: Tiles | null): string | undefined {
  const [, origin] = /^(https?:\/\/[^/]+)\//.exec(tiles?.url.replace('{s}', '*') ?? '') ?? []
  if (tiles && (!origin || /[\s;,{}]/.test(origin))) throw new Error('the map tile URL is invalid')
  return origin
}

/** Size of the small map, in pixels of a tile. */
const SMALL_MAP = { ancho: 480, alto: 220 }

/**
 * Returns a small map with a pin in its middle, without a script. Attributes of SVG place the tiles, because the page's
 * policy forbids styles within the page. OpenStreetMap refuses tiles to sites that send no origin.
 */
export function renderSmallMap({ url, attribution }: Tiles, point: Point): Html | false {
  const tiles = tilesAround(url, point, SMALL_MAP)
  const { ancho, alto } = SMALL_MAP
  return (
    tiles.length > 0 &&
    html`<figure class="croquis"><svg viewBox="0 0 ${ancho} ${alto}" role="img" aria-label="Mapa del lugar de entrega">
${tiles.map((tile) => html`<foreignObject x="${tile.left}" y="${tile.top}" width="${TILE_SIDE}" height="${TILE_SIDE}"><img src="${tile.url}" width="${TILE_SIDE}" height="${TILE_SIDE}" alt="" referrerpolicy="origin"></foreignObject>`)}
<path class="alfiler" transform="translate(${ancho / 2 - PIN_TIP.x} ${alto / 2 - PIN_TIP.y})" d="${PIN_OUTLINE}m0 13a8 8 0 1 1 0 16 8 8 0 0 1 0-16Z"/></svg>
<figcaption class="suave">${attribution}</figcaption></figure>`
  )
}

/** Buttons that move the pin without dragging it. They appear with the map. */
export const ARROWS = html`<details id="flechas" hidden><summary>Mover el pin con botones</summary>
<div class="flechas"><button type="button" data-paso="arriba">↑ Norte</button><button type="button" data-paso="izquierda">← Oeste</button><button type="button" data-paso="derecha">Este →</button><button type="button" data-paso="abajo">↓ Sur</button></div></details>`

interface MapPartOptions {
  /** Id of the heading that labels this part of the page. */
  titulo: string
  /** Sentence that says how to put the pin. */
  hint: string
  /** Ways to give the location if the map fails. */
  moreButtons?: Html
}

/**
 * Returns the part of a page for the map. It is empty until the map opens, because the map's module and tiles are larger
 * than the page.
 */
export const renderMap = (
  { modulePath, style, url, attribution }: MapData,
  { titulo, hint, moreButtons }: MapPartOptions,
): Html =>
  html`<section id="con-mapa" data-con-js hidden aria-labelledby="${titulo}">
<p id="ayuda-mapa" tabindex="-1">${hint}</p>
<div id="mapa" class="ciego" data-modulo="${modulePath}" data-estilo="${style}" data-url="${url}" data-atribucion="${attribution}"></div>
<div id="sin-mapa" class="estado problema" hidden><p>No se pudo cargar el mapa, y sin verlo no se puede señalar el lugar. Revise su señal, o dígalo de otra forma.</p>
<button type="button" id="reintentar-mapa">Cargar el mapa otra vez</button>${moreButtons}</div>
</section>`
