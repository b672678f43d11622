import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const { webhook, url, estado } of api.webhooks.listar()) console.log(webhook, url, estado)
