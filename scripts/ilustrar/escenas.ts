import { fileURLToPath } from 'node:url'
import type { Guia, Guias } from '@guias/sdk'
import { motivosDe } from '../../server/domain/estados/estados.ts'
import type { Estado } from '../../server/generado/contrato/tipos/index.ts'

/** Path of a photo of a delivery. */
export const FOTO = fileURLToPath(new URL('../../server/domain/simulador/muestras/foto.jpg', import.meta.url))

const RECOGIDA = { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 }
/** Guide whose recipient must still give the location. */
export const UNA = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'San Juan Sacatepéquez',
  destinatario: 'María José Ajú Xicará de la Cruz y Hernández',
  direccion: '2a calle 3-45, zona 1, segundo portón verde después de la iglesia de San Juan Bautista',
  indicaciones: 'Tocar fuerte: el timbre no sirve.',
  contenido: 'Dos blusas bordadas y un corte',
  recogida: RECOGIDA,
}
/** Guide with a known location. */
export const CON_LUGAR = { ...UNA, lat: 14.71889, lng: -90.64417 }

/** Creates a guide and moves it through these states. */
export async function vivir(api: Guias, estados: readonly Estado[]): Promise<Guia> {
  const guia = await api.guias.crear(CON_LUGAR)
  for (const estado of estados) {
    const [motivo] = motivosDe(estado)
    if (estado === 'cancelado') await api.guias.cancelar(guia.guia)
    else await api.simulador.avanzar(guia.guia, { estado, ...(motivo ? { motivo } : {}) } as never)
  }
  return guia
}
