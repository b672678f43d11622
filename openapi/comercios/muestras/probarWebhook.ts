import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { id, estado } = await api.webhooks.probar('wh_4T8WQ2ZK7NHB')
console.log(id, estado) // unos segundos después, obtenerEntrega dice qué contestó su servidor
