import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { estado, historial } = await api.webhooks.obtenerAviso('wh_4T8WQ2ZK7NHB', 'avi_4T8WQ2ZK7NHB_7K3M9QX2A1B4_1')
for (const intento of historial)
  console.log(intento.numero, intento.estado_http ?? intento.error, intento.latencia.total_ms)
console.log(estado)
