import * as icons from '../../generated/contract/icons.ts'
import { callBrand } from '../callBrand.ts'
import { codeForm } from '../codeForm.ts'
import type { PageContent } from '../frame.ts'
import type { Front } from '../front.ts'
import { type Html, html } from '../html.ts'
import { choiceRow, emptyState } from '../ui/components.ts'

/**
 * Returns the first page of the service: the tracking form for people who wait for a parcel, and links for all other
 * users.
 * @param script script that remembers the codes searched on this phone
 */
export const firstPage = (script: Html): PageContent => ({
  titulo: 'Seguir un envío',
  script,
  cuerpo: html`<section class="banda"><h1>¿Dónde está su paquete?</h1>
${codeForm({ root: '' })}
<div id="buscados" hidden><h2>Buscados en este teléfono</h2>
<ul></ul>
<button type="button">Olvidarlos</button></div></section>
<section aria-labelledby="mas"><h2 id="mas">¿Qué más necesita?</h2>
<nav class="puertas" aria-label="Otras páginas">
${choiceRow({ icon: icons.ShieldCheck, text: 'Verificar una prueba de entrega', detail: 'Que el PDF sea el original y nadie lo haya cambiado', href: 'verificar' })}
${choiceRow({ icon: icons.Store, text: 'Tengo un comercio', detail: 'Cómo crear envíos, imprimir etiquetas y recibir avisos', href: 'docs' })}
${choiceRow({ icon: icons.CodeXml, text: 'Programo la conexión', detail: 'Pruebe la API con su llave, sin escribir código', href: 'docs/consola' })}
${choiceRow({ icon: icons.Truck, text: 'Soy repartidor', detail: 'Vea lo que lleva hoy y entréguelo', href: 'repartidor' })}
${choiceRow({ icon: icons.Building2, text: 'Trabajo en la oficina', detail: 'Entre con su correo, sin contraseña', href: 'entrar' })}
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
  cuerpo: html`${emptyState(icons.PackageSearch, html`<h1>Aquí no hay nada</h1>`, 'La dirección está incompleta, o la página ya no existe. Su paquete sigue su camino.')}
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
  cuerpo: html`${emptyState(icons.Link, html`<h1>El enlace ya no vale</h1>`, 'Los enlaces a etiquetas y pruebas de entrega duran unos minutos, para que no los abra cualquiera. Este venció, se copió incompleto o no es de este servicio.')}
<p>Si se lo enviaron, pida otro a quien se lo envió. Si lo pidió usted, pida otra vez la etiqueta o la prueba: cada vez sale un enlace nuevo.</p>
<nav class="salidas" aria-label="Otras páginas">
${choiceRow({ icon: icons.Store, text: 'Tengo un comercio', detail: 'Cómo pedir etiquetas y pruebas', href: `${root}docs#error-enlace_invalido` })}
${choiceRow({ icon: icons.House, text: 'Ir al inicio', detail: 'Buscar un envío con su código', href: root })}
${callBrand(brand)}
</nav>`,
})
