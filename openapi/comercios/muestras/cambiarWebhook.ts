import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

await api.webhooks.cambiar('wh_4T8WQ2ZK7NHB', { estado: 'pausado' }) // los eventos esperan
const { estado } = await api.webhooks.cambiar('wh_4T8WQ2ZK7NHB', { estado: 'activo' }) // y ahora salen
console.log(estado)
