import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { guia, estado, ubicacion } = await api.guias.crear({
  telefono: '+502 3148 1676',
  departamento: 'Guatemala',
  municipio: 'San Juan Sacatepéquez',
  destinatario: 'María José Ajú',
  direccion: '2a calle 3-45, zona 1',
  lat: 14.71889,
  lng: -90.64417,
  external_ref: 'PEDIDO-2026-00005', // repetir la solicitud no crea otra guía
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
  metadatos: { canal: 'web', tienda: 'Miraflores' },
})
console.log(guia, estado, ubicacion.estado)
