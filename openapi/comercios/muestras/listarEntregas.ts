import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

for await (const entrega of api.webhooks.entregas('wh_4T8WQ2ZK7NHB', { estado: 'fallida' })) {
  console.log(entrega.id, entrega.tipo, entrega.ultimo_status ?? entrega.ultimo_error)
}
