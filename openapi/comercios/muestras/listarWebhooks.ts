import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

for await (const { webhook, url, estado } of api.webhooks.listar()) console.log(webhook, url, estado)
