import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const { numero_intento, motivo, fotos } of api.guias.intentos('7K3M9QX2A1B4')) {
  console.log(numero_intento, motivo, fotos.length)
}
