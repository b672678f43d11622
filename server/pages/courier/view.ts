import type { Brand } from '../../platform/brand/brand.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageContent } from '../frame.ts'

/** Values that the page's program reads from the page. */
type RepartidorPageData = Readonly<Record<'readerPath' | 'wasm' | 'privacyNotice', string>> & {
  central: Brand['telefono']
}

/**
 * Returns the courier's page before its program runs. The page is the same for every client, so the service worker may
 * keep it.
 */
export const repartidorPage = (datos: RepartidorPageData): PageContent => ({
  titulo: 'Reparto',
  body: html`<div id="app" class="con-barra" data-lector="${datos.readerPath}" data-wasm="${datos.wasm}" data-privacidad="${datos.privacyNotice}" data-central="${datos.central?.visible ?? ''}" data-llamar="${datos.central?.e164 ?? ''}">
<h1>Reparto</h1>
<p>Abriendo…</p>
<noscript><p>Esta página necesita JavaScript para funcionar. Actívelo en los ajustes del navegador.</p></noscript>
</div>`,
})

type LinkedFile = 'estilo.css' | 'navegador.js' | 'icono-apple.png'

/**
 * Returns the head of the courier's page.
 * @param direccion returns the path of one of the page's files, relative to the page, so that it works below any path
 *   prefix
 */
export const repartidorHead = (direccion: (archivo: LinkedFile) => string): Html =>
  html`<meta name="apple-mobile-web-app-capable" content="yes">
<meta name="apple-mobile-web-app-title" content="Reparto">
<link rel="manifest" href="repartidor/manifiesto.webmanifest">
<link rel="stylesheet" href="${direccion('estilo.css')}">
<link rel="apple-touch-icon" href="${direccion('icono-apple.png')}">
<script type="module" src="${direccion('navegador.js')}"></script>`

/** Returns the manifest with which a phone installs the page. The addresses in it are relative to the manifest. */
export const manifiesto = ({ nombre, color }: Brand, icons: Record<'192' | '512' | 'maskable', string>) =>
  JSON.stringify({
    id: '../repartidor',
    name: `${nombre}: reparto`,
    short_name: 'Reparto',
    description: 'Escanear, entregar y guardar la prueba, también sin cobertura.',
    lang: 'es',
    dir: 'ltr',
    start_url: '../repartidor',
    scope: '../repartidor',
    display: 'standalone',
    orientation: 'any',
    background_color: '#ffffff',
    theme_color: color,
    icons: [
      { src: icons['192'], sizes: '192x192', type: 'image/png', purpose: 'any' },
      { src: icons['512'], sizes: '512x512', type: 'image/png', purpose: 'any' },
      { src: icons.maskable, sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    ],
  })
