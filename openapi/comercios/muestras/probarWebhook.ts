import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { entrega, estado } = await api.webhooks.probar('wh_4T8WQ2ZK7NHB')
console.log(entrega, estado) // unos segundos después, obtenerEntrega dice qué contestó su servidor
