import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const { entrega, tipo, ultimo_error } of api.webhooks.entregas('wh_4T8WQ2ZK7NHB', { estado: 'fallida' })) {
  console.log(entrega, tipo, ultimo_error)
}
