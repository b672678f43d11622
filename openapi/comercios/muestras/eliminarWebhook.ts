import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

await api.webhooks.eliminar('wh_4T8WQ2ZK7NHB')
