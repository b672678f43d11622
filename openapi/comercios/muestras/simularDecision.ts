import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { resolucion, indicaciones } = await api.simulador.decidir('7K3M9QX2A1B4', {
  eleccion: 'vecino',
  vecino: { nombre: 'Rosa Caal', donde: 'casa verde de enfrente' },
})
console.log(resolucion?.accion, resolucion?.por, indicaciones) // reintentar destinatario Dejar con un vecino: …
