import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { resolucion, indicaciones } = await api.simulador.decidir('7K3M9QX2A1B4', {
  eleccion: 'vecino',
  vecino: { nombre: 'Rosa Caal', donde: 'casa verde de enfrente' },
})
console.log(resolucion?.accion, resolucion?.por, indicaciones) // reintentar destinatario Dejar con un vecino: …
