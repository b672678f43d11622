import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { estado, causa } = await api.webhooks.reenviar('wh_4T8WQ2ZK7NHB', 'avi_4T8WQ2ZK7NHB_7K3M9QX2A1B4_1')
console.log(estado, causa) // pendiente manual
