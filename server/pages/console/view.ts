import { type Html, html } from '../../platform/html.ts'
import { ABOUT_KEYS } from '../docs/bar.ts'
import type { PageContent } from '../frame.ts'

/**
 * Returns the console's page before its program runs. The page is the same for every client.
 * @param operaciones path of `operaciones.json`, relative to the page
 * @param hoy day to which the examples' days are relative
 */
export const consolePage = ({ operaciones, hoy }: Record<'operaciones' | 'hoy', string>): PageContent => ({
  titulo: 'Consola',
  body: html`<h1>Consola</h1>
<p>Pruebe cada operación con su llave de prueba. Se envía a este servicio y a nadie más, y no sale nada a la calle.</p>
<noscript><p class="aviso">Esta página necesita JavaScript. Sin él, cada operación tiene su muestra con curl en la <a href="../docs">documentación</a>.</p></noscript>
<div id="consola" data-operaciones="${operaciones}" data-hoy="${hoy}" hidden>
<form autocomplete="off">
<p><label for="llave">Llave de prueba</label>
<input id="llave" type="password" placeholder="guia_test_…" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="de-llave reparo">
<span id="de-llave" class="suave">Queda en la memoria de esta página.</span></p>
<p id="reparo" class="mal" role="alert"></p>
<details><summary>${ABOUT_KEYS.question}</summary><p>${ABOUT_KEYS.answer}</p></details>
<p class="casilla"><input id="recordar" type="checkbox"><label for="recordar">Recordarla en esta pestaña, hasta cerrarla</label></p>
<p><label for="operacion">Operación</label>
<select id="operacion"></select></p>
<p class="suave"><a class="enlace" id="ayuda" href="../docs">Qué hace y qué contesta</a></p>
<fieldset id="de-ruta"><legend>En la ruta</legend></fieldset>
<details id="de-consulta"><summary>Opciones</summary><div></div></details>
<div id="con-cuerpo">
<p id="con-ejemplos"><label for="ejemplo">Ejemplo</label>
<select id="ejemplo"></select></p>
<p><label for="cuerpo">Cuerpo (JSON)</label>
<textarea id="cuerpo" rows="14" spellcheck="false" autocapitalize="none" aria-describedby="de-cuerpo"></textarea>
<span id="de-cuerpo" class="mal" role="alert"></span></p>
</div>
<p class="codigo direccion" id="direccion"></p>
<button class="principal" aria-keyshortcuts="Control+Enter Meta+Enter">Enviar</button>
<button type="button" id="curl">Copiar como curl</button>
<p id="copiado" class="suave" role="status"></p>
</form>
<section id="respuesta" aria-labelledby="titulo-respuesta" aria-live="polite">
<h2 id="titulo-respuesta" tabindex="-1">Respuesta</h2>
<p id="estado">Aquí se ve lo que conteste el servicio.</p>
<div id="contestado" hidden>
<h3>Cabeceras</h3>
<dl id="cabeceras"></dl>
<h3>Cuerpo</h3>
<pre id="recibido" tabindex="0" aria-label="Cuerpo de la respuesta"></pre>
<button type="button" id="copiar">Copiar el cuerpo</button>
</div>
</section>
</div>`,
})

/**
 * Returns the head of the console's page.
 * @param pathOf returns the path of a file, relative to the page
 */
export const consoleHead = (pathOf: (archivo: 'estilo.css' | 'navegador.js') => string): Html =>
  html`<link rel="stylesheet" href="${pathOf('estilo.css')}">
<script type="module" src="${pathOf('navegador.js')}"></script>`
