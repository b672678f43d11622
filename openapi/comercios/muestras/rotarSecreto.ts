import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { secreto, secretos } = await api.webhooks.rotarSecreto('wh_4T8WQ2ZK7NHB', { solapamiento_horas: 24 })
console.log(secreto) // el nuevo; el anterior vale hasta:
console.log(secretos.find(({ vence_en }) => vence_en)?.vence_en)
