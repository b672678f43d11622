import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { secreto, secretos } = await api.webhooks.rotarSecreto('wh_4T8WQ2ZK7NHB', { solapamiento_horas: 24 })
console.log(secreto) // el nuevo; el anterior vale hasta:
console.log(secretos.find(({ vence_en }) => vence_en)?.vence_en)
