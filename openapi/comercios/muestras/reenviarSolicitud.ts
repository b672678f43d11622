import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { ubicacion } = await api.guias.reenviarSolicitud('2Q9ZT4C7XK0Y')
console.log(ubicacion.solicitud?.numero) // cuántos mensajes van
