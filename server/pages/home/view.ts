import * as icons from '../../generated/contract/icons.ts'
import { type Html, html } from '../../platform/html.ts'
import { callBrand } from '../callBrand.ts'
import { codeForm } from '../codeForm.ts'
import type { PageContent } from '../frame.ts'
import type { Front } from '../front.ts'
import { choiceRow, emptyState } from '../ui/components.ts'

/**
 * Returns the first page of the service: the tracking form for people who wait for a parcel, and links for all other
 * users.
 * @param script script that remembers the codes searched on this phone
 */
export const firstPage = (script: Html): PageContent => ({
  titulo: 'Seguir un envío',
  script,
  body: html`<section class="banda"><h1>¿Dónde está su paquete?</h1>
${codeForm({ root: '' })}
<div id="buscados" hidden><h2>Buscados en este teléfono</h2>
<ul></ul>
<button type="button">Olvidarlos</button></div></section>
<section aria-labelledby="mas"><h2 id="mas">¿Qué más necesita?</h2>
<nav class="puertas" aria-label="Otras páginas">
${choiceRow({ icon: icons.ShieldCheck, text: 'Verificar una prueba de entrega', detail: 'Que el PDF sea el original y nadie lo haya cambiado', href: 'verificar' })}
${choiceRow({ icon: icons.Store, text: 'Tengo un comercio', detail: 'Qué puede hacer hoy, con programador o sin él', href: 'comercio' })}
${choiceRow({ icon: icons.CodeXml, text: 'Programo la conexión', detail: 'Pruebe la API con su llave, sin escribir código', href: 'docs/consola' })}
${choiceRow({ icon: icons.Truck, text: 'Soy repartidor', detail: 'Vea lo que lleva hoy y entréguelo', href: 'repartidor' })}
${choiceRow({ icon: icons.Building2, text: 'Trabajo en la oficina', detail: 'Entre con su correo, sin contraseña', href: 'entrar' })}
</nav></section>`,
})

/**
 * Returns the page for shops: what they can do today, with and without a developer, and how they begin.
 * @param root relative path from the page to the service root
 */
export const shopPage = ({ brand }: Front, root: string): PageContent => ({
  titulo: 'Para comercios',
  withTelefono: true,
  body: html`<section class="banda"><h1>Envíos para su comercio</h1>
<p>Cree sus envíos, imprima las etiquetas, vea por dónde va cada paquete y reciba la prueba de cada entrega. Si no sabe el lugar exacto, lo preguntamos al destinatario por mensaje.</p></section>
<section aria-labelledby="empezar"><h2 id="empezar">Para empezar</h2>
<p>Necesita una llave. ${brand.nombre} le da dos: una de prueba, que no mueve paquetes, y después la de producción.</p>
${callBrand(brand)}</section>
<section aria-labelledby="sin"><h2 id="sin">Sin programar</h2>
<p>Todavía no hay una página donde el comercio cree envíos y los vea en una lista.</p>
<nav class="puertas" aria-label="Sin programar">
${choiceRow({ icon: icons.FileSpreadsheet, text: 'Desde una hoja de cálculo', detail: 'Una orden en la terminal crea todos los envíos de su archivo y sus etiquetas', href: `${root}docs/hoja-de-calculo` })}
${choiceRow({ icon: icons.CodeXml, text: 'Uno a uno, en la consola', detail: 'Llene los campos con su llave y vea la respuesta', href: `${root}docs/consola` })}
${choiceRow({ icon: icons.MessageCircle, text: 'Con un asistente', detail: 'Un asistente de inteligencia artificial crea y busca los envíos por usted', href: `${root}docs/asistentes-mcp` })}
</nav></section>
<section aria-labelledby="con"><h2 id="con">Con alguien que programa</h2>
<nav class="puertas" aria-label="Con alguien que programa">
${choiceRow({ icon: icons.Store, text: 'Conectar su tienda en línea', detail: 'El primer envío en minutos: API, SDK y ejemplos en Node.js, Python, PHP y curl', href: `${root}docs` })}
${choiceRow({ icon: icons.ShieldCheck, text: 'Pasar a producción', detail: 'Lo que se revisa antes del primer paquete de verdad', href: `${root}docs/pasar-a-produccion` })}
${choiceRow({ icon: icons.CircleQuestionMark, text: 'Lo que el servicio no hace', detail: 'Para saberlo antes de empezar', href: `${root}docs/lo-que-no-hay` })}
</nav></section>`,
})

export const HOME_FAILED = html`Vuelva a cargar la página en un minuto.`

/**
 * Returns the page for an unknown address of the service. It is the same for all such addresses.
 * @param root URL of the service root, with its last slash
 */
export const nothingPage = ({ brand }: Front, root: string): PageContent => ({
  titulo: 'Aquí no hay nada',
  withTelefono: true,
  body: html`${emptyState(icons.PackageSearch, html`<h1>Aquí no hay nada</h1>`, 'La dirección está incompleta, o la página ya no existe. Su paquete sigue su camino.')}
${codeForm({ root, label: 'Busque con el código de la guía' })}
<nav class="salidas" aria-label="Otras páginas">
${choiceRow({ icon: icons.House, text: 'Ir al inicio', href: root })}
${callBrand(brand)}
</nav>`,
})

/**
 * Returns the page for a signed link that does not open anything. It is the same for all such links, and tells none of
 * the reasons apart.
 * @param root URL of the service root, with its last slash
 */
export const invalidLinkPage = ({ brand }: Front, root: string): PageContent => ({
  titulo: 'El enlace ya no vale',
  withTelefono: true,
  body: html`${emptyState(icons.Link, html`<h1>El enlace ya no vale</h1>`, 'Los enlaces a etiquetas y pruebas de entrega duran unos minutos, para que no los abra cualquiera. Este venció, se copió incompleto o no es de este servicio.')}
<p>Si se lo enviaron, pida otro a quien se lo envió. Si lo pidió usted, pida otra vez la etiqueta o la prueba: cada vez sale un enlace nuevo.</p>
<nav class="salidas" aria-label="Otras páginas">
${choiceRow({ icon: icons.Store, text: 'Tengo un comercio', detail: 'Cómo pedir etiquetas y pruebas', href: `${root}docs/errores#error-enlace_invalido` })}
${choiceRow({ icon: icons.House, text: 'Ir al inicio', detail: 'Buscar un envío con su código', href: root })}
${callBrand(brand)}
</nav>`,
})
