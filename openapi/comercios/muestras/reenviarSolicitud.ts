import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { ubicacion } = await api.guias.reenviarSolicitud('2Q9ZT4C7XK0Y')
console.log(ubicacion.solicitud?.numero) // cuántos mensajes van
