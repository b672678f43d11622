import { GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { codeForm } from '../codeForm.ts'
import type { PageContent } from '../frame.ts'
import {
  advice,
  button,
  choiceRow,
  dialog,
  emptyState,
  facts,
  faultSummary,
  field,
  icon,
  iconButton,
  label,
  notice,
  pagination,
  progress,
  segment,
  skeleton,
  stateBadge,
  stateLabel,
  table,
  tabs,
  timeline,
  toast,
} from './components.ts'
import { STATE_LOOKS } from './states.ts'

const COLORS = [
  'marca',
  'marca-tinta',
  'marca-tenue',
  'fondo',
  'superficie',
  'hundido',
  'elevado',
  'texto',
  'suave',
  'borde',
  'borde-campo',
  'enlace',
  'foco',
  'inverso',
  'espera',
  'viaje',
  'bien',
  'aviso',
  'aviso-lleno',
  'mal',
  'vuelta',
]

const part = (id: string, title: string, body: Html): Html =>
  html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>
`

const group = (...members: Html[]) => html`<div class="grupo">${members}</div>`
const columns = (...members: Html[]) =>
  html`<div class="lado-a-lado">${members.map((member) => html`<div>${member}</div>`)}</div>`

const off = html`type="button" disabled`
const still = html`type="button"`

const buttons = html`${group(
  button({ text: 'Entregar', icon: icons.Package, kind: 'principal', attributes: still }),
  button({ text: 'Guardando', kind: 'principal', attributes: html`type="button" aria-busy="true"` }),
  button({ text: 'Apagado', attributes: off }),
)}
${group(
  button({ text: 'Secundario', attributes: still }),
  button({ text: 'Señalarlo en el mapa', icon: icons.MapPin, attributes: still }),
  button({ text: 'Un enlace', href: '#botones' }),
)}
${group(
  button({ text: 'Callado', kind: 'callado', attributes: still }),
  button({ text: 'Corregir', icon: icons.Pencil, kind: 'callado', attributes: still }),
  button({ text: 'Reportar extravío', icon: icons.CircleQuestionMark, kind: 'peligro', attributes: still }),
  button({ text: 'Cancelar 12 guías', icon: icons.Ban, kind: 'peligro lleno', attributes: still }),
)}
${group(iconButton('Buscar', icons.Search), iconButton('Cerrar', icons.X, 'callado'))}
${button({ text: 'De lado a lado, con el nombre más largo que cabe en un teléfono', kind: 'principal', attributes: still })}`

const text = (value: string) => (attributes: Html) => html`<input ${attributes} type="text" value="${value}">`

const fields = html`${faultSummary([['con-falla', 'Faltan 3 números: son 8']], false)}
${columns(
  field({ id: 'nombre', label: 'Nombre de quien recibe', control: text('María José Ajú') }),
  field({ id: 'con-ayuda', label: 'Teléfono', hint: '8 números, como 3148 1676', control: text('') }),
  field({ id: 'con-falla', label: 'Teléfono', fault: 'Faltan 3 números: son 8', control: text('5551 2') }),
  field({
    id: 'municipio',
    label: 'Municipio',
    control: (attributes) => html`<select ${attributes}><option>San Juan Sacatepéquez</option></select>`,
  }),
  field({
    id: 'senas',
    label: 'Señas',
    control: (attributes) => html`<textarea ${attributes} rows="2">Portón negro</textarea>`,
  }),
  field({
    id: 'busca',
    label: 'Buscar',
    control: (attributes) => html`<span class="buscar">${icon(icons.Search)}<input ${attributes} type="search"></span>`,
  }),
  segment('Cómo paga', 'pago', [
    ['efectivo', 'Efectivo'],
    ['transferencia', 'Transferencia'],
  ]),
)}`

const choices = columns(
  choiceRow({
    icon: icons.LocateFixed,
    text: 'Estoy ahí ahora',
    detail: 'Usar mi ubicación',
    href: '#elegir',
    main: true,
  }),
  choiceRow({ icon: icons.MapPin, text: 'Señalarlo en el mapa', href: '#elegir' }),
  html`<label class="opcion"><input type="checkbox" checked><span>Blusa talla M<small>Mismo destinatario</small></span></label>`,
  html`<label class="opcion"><input type="radio" name="quien"><span>Alguien de su familia</span></label>`,
)

const GUIA = html`<span class="codigo">7K3M-9QX2-A1B4</span>`
const row = (classes: string, inside: Html) => html`<li class="${classes}"><a href="#renglones">${inside}</a></li>`
const rowsOfCourier = columns(
  html`<ul class="lista">
<li><a class="breve" href="#renglones"><strong>2a calle 3-45, zona 1, segundo portón verde después de la iglesia</strong> <small><b>350 m</b> · María José Ajú Xicará · No había nadie</small></a></li>
${row('', html`<strong>María José Ajú</strong> ${GUIA} <span class="direccion">2a calle 3-45, zona 1</span> <small>En ruta · a 350 m</small>`)}
${row('atencion', html`<strong>Intento fallido</strong> ${GUIA} <small>10:42 · Necesita su atención</small>`)}
</ul>`,
  html`<ul class="lista">
<li><label class="marcable"><input type="checkbox" checked><span><strong>María José Ajú</strong> ${GUIA} <small>2a calle 3-45, zona 1 · En bodega</small></span></label></li>
<li><label class="marcable"><input type="checkbox"><span><strong>Byron Estuardo López de la Cruz y Morales</strong> ${GUIA} <small>En bodega</small></span></label></li>
</ul>`,
  html`<p class="recuadro">Lugar anotado, con precisión de unos 8 m.</p>${segment('Colores', 'tema', [
    ['claro', 'Claro'],
    ['oscuro', 'Oscuro'],
  ])}`,
)
const captures = columns(
  html`<video class="visor"></video>`,
  html`<canvas class="firma" role="img" aria-label="Espacio para firmar con el dedo"></canvas>`,
)

/** Controls in a state that lasts only while the pointer or the keyboard is there, which a class shows. */
const controlsIn = (state: 'con-puntero' | 'con-foco', title: string) => html`<h3>${title}</h3>
${group(
  html`<button type="button" class="principal ${state}">Entregar</button>`,
  html`<button type="button" class="${state}">Secundario</button>`,
  html`<button type="button" class="callado ${state}">Callado</button>`,
  html`<button type="button" class="peligro lleno ${state}">Cancelar 12 guías</button>`,
)}
<a class="opcion ${state}" href="#puntero">${icon(icons.MapPin)}<span>Señalarlo en el mapa</span></a>
<ul class="lista"><li><a class="${state}" href="#puntero"><strong>María José Ajú</strong> ${GUIA}</a></li></ul>
<label class="marcable ${state}"><input type="checkbox"><span><strong>Byron López</strong></span></label>`
const pointedAndFocused = columns(
  controlsIn('con-puntero', 'Con el puntero encima'),
  controlsIn('con-foco', 'Con el foco del teclado'),
)

const things = advice([
  { icon: icons.Phone, text: 'Esté pendiente de su teléfono', detail: 'El repartidor llama al llegar.' },
  { icon: icons.Store, text: 'Escriba a La Ceiba' },
])

const entry = (what: string, iso: string, words: string) => ({ text: what, time: { iso, words } })
const history = timeline('en_ruta', [
  entry('En ruta de entrega', '2026-11-23T14:15:00Z', '23 nov 2026, 08:15'),
  entry('En bodega', '2026-11-23T03:40:00Z', '22 nov 2026, 21:40'),
  entry('Envío registrado', '2026-11-22T16:48:00Z', '22 nov 2026, 10:48'),
])
const STEPS = ['Registrado', 'En camino', 'En ruta', 'Entregado']
const way = (current: number) => progress('Avance del envío', STEPS, current)

const states = html`<div class="grupo">${(Object.keys(STATE_LOOKS) as Estado[]).map((estado) => stateBadge(estado, GUIA_STATE_WORDS[estado]))}</div>
<div class="lado-a-lado">${(['en_ruta', 'intento_fallido', 'entregado', 'extraviado'] as const).map(
  (estado) =>
    html`<div>${stateLabel({ estado, word: GUIA_STATE_WORDS[estado], said: html`<p>Lo que hay que saber, en una frase.</p>`, rest: way(estado === 'entregado' ? 3 : 2) })}</div>`,
)}<div>${label({ tone: 'bien', icon: icons.CircleCheck, word: '¡Gracias, María!', said: html`<p>Lo que se hizo, en una frase.</p>` })}</div></div>`

const cell = (value: string) => html`${value}`
const rows = table(
  'Guías',
  ['Guía', 'Recibe', 'Estado', 'Acción'],
  [
    [
      html`<b class="codigo">7K3M-9QX2-A1B4</b>`,
      cell('María José Ajú'),
      stateBadge('intento_fallido', 'No había nadie'),
      group(button({ text: 'Poner fecha', attributes: still })),
    ],
    [
      html`<b class="codigo">2WQ8-11KD-F0P3</b>`,
      cell('Byron Estuardo López de la Cruz y Morales'),
      stateBadge('entregado', 'Entregado'),
      group(button({ text: 'Ver la prueba', attributes: still })),
    ],
  ],
)

/** Content of the page that shows all components in all their states. */
export const COMPONENT_SHEET: PageContent = {
  titulo: 'Piezas',
  body: html`<h1>Piezas</h1>
<p class="suave">Cada pieza de las páginas, en cada estado. Claro u oscuro: lo que diga el sistema.</p>
${part('colores', 'Colores', html`<ul class="muestras">${COLORS.map((color) => html`<li class="m-${color}">${color}</li>`)}</ul>`)}
${part('tallas', 'Letra', html`<div class="tallas">${[6, 5, 4, 3, 2, 1].map((size) => html`<p class="talla-${size}">${size} · San Juan Sacatepéquez, <span class="codigo">7K3M-9QX2-A1B4</span></p>`)}</div>`)}
${part('estados', 'Estados de una guía', states)}
${part('botones', 'Botones', buttons)}
${part('campos', 'Campos', fields)}
${part('codigo', 'Buscar por código', codeForm({ root: '' }))}
${part('consejos', 'Lo que se puede hacer', things)}
${part('elegir', 'Renglones para escoger', choices)}
${part('renglones', 'Renglones de una lista', rowsOfCourier)}
${part('puntero', 'Puntero y teclado', pointedAndFocused)}
${part('captura', 'Cámara y firma', captures)}
${part(
  'tarjetas',
  'Tarjeta, datos e historial',
  columns(
    html`<div class="tarjeta"><h3>Destino</h3><p>2a calle 3-45, zona 1</p></div>`,
    facts([
      ['Lo envía', 'La Ceiba'],
      ['Para', 'M.'],
    ]),
    history,
  ),
)}
${part(
  'avisos',
  'Avisos',
  columns(
    notice(html`<p><strong>Guía de prueba.</strong> No hay ningún paquete.</p>`),
    notice(html`<p><strong>Listo.</strong> Se crearon 97 envíos.</p>`, 'bien'),
    notice(html`<p><strong>No se guardó.</strong> Revise el teléfono.</p>`, 'mal'),
    toast('2 entregadas', button({ text: 'Deshacer', attributes: still })),
  ),
)}
${part(
  'dialogos',
  'Diálogo',
  dialog(
    'pregunta',
    '¿Cancelar 12 guías?',
    html`<p>No se puede deshacer. 3 comercios reciben el aviso.</p>${group(
      button({ text: 'No, dejarlas', attributes: still }),
      button({ text: 'Cancelar 12 guías', kind: 'peligro lleno', attributes: still }),
    )}`,
    true,
  ),
)}
${part(
  'vacio',
  'Vacío y cargando',
  columns(
    html`<div class="tarjeta">${emptyState(icons.PackageOpen, html`<h3>Su primer envío</h3>`, 'Escriba a quién va y su teléfono.', button({ text: 'Nuevo envío', attributes: still }))}</div>`,
    html`<div class="tarjeta">${skeleton(3)}</div>`,
  ),
)}
${part('tablas', 'Tabla y páginas', html`${rows}${pagination('1 a 2 de 2,041', '#tablas', '#tablas')}`)}
${part(
  'acciones',
  'Barra de acciones',
  html`<div class="con-barra"><div class="barra pegada">${button({ text: 'Atrás', attributes: still })}${button({ text: 'Confirmar', kind: 'principal', attributes: still })}</div></div>`,
)}
${part(
  'pestanas',
  'Barra de abajo',
  tabs('Ejemplo', [
    { icon: icons.Inbox, text: 'Hoy', href: '#pestanas', current: true },
    { icon: icons.Package, text: 'Guías', href: '#pestanas' },
    { icon: icons.Truck, text: 'Reparto', href: '#pestanas' },
  ]),
)}`,
}
