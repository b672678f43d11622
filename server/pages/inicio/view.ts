import * as icons from '../../generado/contrato/iconos.ts'
import type { PageContent } from '../frame.ts'
import { html } from '../html.ts'
import { formulario } from '../rastreo/view.ts'
import { choice } from '../ui/components.ts'

/**
 * First page of the service: the tracking form for people who wait for a parcel, and links for couriers and merchants.
 */
export const PAGINA_DE_INICIO: PageContent = {
  titulo: 'Seguir un envío',
  cuerpo: html`<h1>Siga su envío</h1>
<p>Vea por dónde va su paquete y qué sigue.</p>
${formulario('')}
<nav aria-label="Otras páginas">
${choice({ icon: icons.Truck, text: '¿Es repartidor?', detail: 'Entre para ver sus guías y entregarlas.', href: 'repartidor' })}
${choice({ icon: icons.Store, text: '¿Tiene una tienda?', detail: 'Conecte su sistema: documentación de la API.', href: 'docs' })}
</nav>`,
}

export const FALLO_DE_INICIO = html`Vuelva a cargar la página en un minuto.`
