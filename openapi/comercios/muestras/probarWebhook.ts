import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { aviso, estado } = await api.webhooks.probar('wh_4T8WQ2ZK7NHB')
console.log(aviso, estado) // unos segundos después, obtenerAviso dice qué contestó su servidor
