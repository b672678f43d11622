import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { estado, causa } = await api.webhooks.reenviar('wh_4T8WQ2ZK7NHB', 'ent_4T8WQ2ZK7NHB_7K3M9QX2A1B4_1')
console.log(estado, causa) // pendiente manual
