/** Bar and search window of the documentation: the same on the reading view, on each chapter and on the console. */
import { type Html, html } from '../../platform/html.ts'

/** Data of the bar on a page. */
export interface DocsBar {
  /** Relative path from the page to the service root, such as `../`. */
  root: string
  /** Mark of the brand. */
  mark: Html
  /** Path of the search's program from the service root. */
  searchPath: string
  /** Path of the search's index from the service root. */
  indexPath: string
}

/** Script that selects light or dark before the first paint, if the reader has chosen in the reading view. */
export const THEME_SCRIPT =
  'try{const mode=localStorage.getItem("redoc.colorMode");if(mode==="light"||mode==="dark")document.documentElement.classList.add(mode)}catch{}'

/** Question of merchants who have no key yet, and its answer. */
export const ABOUT_KEYS = {
  question: '¿Dónde está su llave?',
  answer:
    'La crea el servicio de mensajería y se la da a quien lleva la cuenta de su comercio. Si usted mismo arrancó el servicio, la de prueba está en la terminal y en el archivo .datos/demo.json.',
}

/** Returns the bar with the brand, the search and the way to the console. */
export const renderBar = ({ root, mark }: DocsBar): Html =>
  html`<header class="barra"><div>
<a class="marca" href="${root}docs">${mark}</a>
<button id="buscar" type="button" command="show-modal" commandfor="buscador" aria-keyshortcuts="Control+K Meta+K /"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M11 11l4 4M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10z" fill="none" stroke="currentColor" stroke-width="1.5"/></svg><span>Buscar</span><kbd>Ctrl K</kbd></button>
<a class="otra" href="${root}docs/consola">Consola</a>
</div></header>`

/** Returns the search window, which the button in the bar opens. */
export const renderSearch = ({ root, searchPath, indexPath }: DocsBar): Html =>
  html`<dialog id="buscador" class="buscador" aria-label="Buscar en la documentación" data-raiz="${root}" data-buscador="${root}${searchPath}" data-indice="${root}${indexPath}">
<div class="pregunta"><input type="text" autofocus role="combobox" aria-label="Buscar en la documentación" aria-controls="hallado" aria-expanded="true" aria-autocomplete="list" placeholder="Buscar en la documentación" autocomplete="off" spellcheck="false" enterkeyhint="go"><button class="cerrar" type="button" command="close" commandfor="buscador">Cerrar</button></div>
<ul id="hallado" role="listbox" aria-label="Resultados" hidden></ul>
<p class="nada" role="status">Un capítulo, una operación, un campo o un código de error.</p>
<p class="teclas" aria-hidden="true">↑ ↓ moverse · Entrar abrir · Esc cerrar</p>
</dialog>`
