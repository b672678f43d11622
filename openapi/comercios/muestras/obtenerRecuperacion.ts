import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { estado, avisos } = await api.webhooks.obtenerRecuperacion('wh_4T8WQ2ZK7NHB', 'rec_9W2KQ8WZ1MTA')
console.log(estado, avisos)
