import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })
const { keys } = await api.guias.clavesPublicas()
for (const { kid } of keys) console.log(kid)
