import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { entrega, estado } = await api.webhooks.probar('wh_4T8WQ2ZK7NHB')
console.log(entrega, estado) // unos segundos después, obtenerEntrega dice qué contestó su servidor
