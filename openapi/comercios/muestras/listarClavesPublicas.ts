import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno
const { keys } = await api.guias.clavesPublicas()
for (const { kid } of keys) console.log(kid)
