import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { estado, entregas } = await api.webhooks.obtenerRecuperacion('wh_4T8WQ2ZK7NHB', 'rec_9W2KQ8WZ1MTA')
console.log(estado, entregas)
