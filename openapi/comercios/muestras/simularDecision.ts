import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { decision, indicaciones } = await api.simulador.decidir('7K3M9QX2A1B4', {
  eleccion: 'vecino',
  vecino: { nombre: 'Rosa Caal', donde: 'casa verde de enfrente' },
})
console.log(decision?.accion, decision?.por, indicaciones) // reintentar destinatario Dejar con un vecino: …
