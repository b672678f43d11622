import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const { aviso, tipo, ultimo_error } of api.webhooks.avisos('wh_4T8WQ2ZK7NHB', { estado: 'fallido' })) {
  console.log(aviso, tipo, ultimo_error)
}
