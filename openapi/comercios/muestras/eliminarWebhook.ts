import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

await api.webhooks.eliminar('wh_4T8WQ2ZK7NHB')
