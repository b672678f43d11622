import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const desde = new Date(Date.now() - 24 * 3_600_000).toISOString()
const { avisos } = await api.webhooks.ensayarRecuperacion('wh_4T8WQ2ZK7NHB', { desde })
console.log(`se enviarían ${avisos}`)
const { recuperacion } = await api.webhooks.recuperar('wh_4T8WQ2ZK7NHB', { desde })
console.log(recuperacion)
