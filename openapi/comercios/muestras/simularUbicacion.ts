import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { ubicacion } = await api.simulador.confirmarUbicacion('2Q9ZT4C7XK0Y', { lat: 14.70811, lng: -90.50042 })
console.log(ubicacion.estado, ubicacion.origen) // confirmada destinatario
