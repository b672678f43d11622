import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { estado, fallas } = await api.webhooks.obtener('wh_4T8WQ2ZK7NHB')
if (fallas) console.warn('sin un envío bueno desde', fallas.primera_falla_en)
console.log(estado)
