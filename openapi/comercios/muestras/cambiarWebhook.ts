import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

await api.webhooks.cambiar('wh_4T8WQ2ZK7NHB', { estado: 'pausado' }) // los eventos esperan
const { estado } = await api.webhooks.cambiar('wh_4T8WQ2ZK7NHB', { estado: 'activo' }) // y ahora salen
console.log(estado)
