import { html } from '../html.ts'

/** Where the page finds what it loads: paths relative to itself, so that it works below any prefix. */
export interface Enlazados {
  estilo: string
  navegador: string
  icono: string
  iconoDeApple: string
  manifiesto: string
  lector: string
  wasm: string
}

/** The page before its program runs: the same for everybody, so that the service worker may keep it. */
export const pagina = (enlazados: Enlazados): string =>
  html`<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#0b6b3a">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<meta name="apple-mobile-web-app-capable" content="yes">
<meta name="apple-mobile-web-app-title" content="Reparto">
<title>Reparto</title>
<link rel="manifest" href="${enlazados.manifiesto}">
<link rel="stylesheet" href="${enlazados.estilo}">
<link rel="icon" type="image/svg+xml" href="${enlazados.icono}">
<link rel="apple-touch-icon" href="${enlazados.iconoDeApple}">
<script type="module" src="${enlazados.navegador}"></script>
</head>
<body>
<main id="app" data-lector="${enlazados.lector}" data-wasm="${enlazados.wasm}">
<h1>Reparto</h1>
<p>Abriendo…</p>
<noscript><p>Esta página necesita JavaScript para funcionar. Actívelo en los ajustes del navegador.</p></noscript>
</main>
</body>
</html>
`.texto

const CAJA = '<path fill="#fff" d="M50 19 80 33 50 47 20 33Zm-2 33v33L18 71V37Zm4 0 30-15v34L52 85Z"/>'
/** Maskable: what matters stands within the middle four fifths, the ground goes to every edge. */
export const icono = (redondeado: boolean) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100"${redondeado ? ' rx="22"' : ''} fill="#0b6b3a"/>${CAJA}</svg>`

/** What a phone needs to install the page; relative to the manifest's own address. */
export const manifiesto = (iconos: Record<'192' | '512' | 'entero', string>) =>
  JSON.stringify({
    id: '../repartidor',
    name: 'Reparto de guías',
    short_name: 'Reparto',
    description: 'Escanear, entregar y dejar constancia, también sin cobertura.',
    lang: 'es',
    dir: 'ltr',
    start_url: '../repartidor',
    scope: '../repartidor',
    display: 'standalone',
    orientation: 'any',
    background_color: '#ffffff',
    theme_color: '#0b6b3a',
    icons: [
      { src: iconos['192'], sizes: '192x192', type: 'image/png', purpose: 'any' },
      { src: iconos['512'], sizes: '512x512', type: 'image/png', purpose: 'any' },
      { src: iconos.entero, sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    ],
  })
