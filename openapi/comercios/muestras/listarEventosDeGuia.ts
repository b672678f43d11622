import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const evento of api.guias.eventos('7K3M9QX2A1B4')) {
  console.log(evento.secuencia, evento.tipo, evento.descripcion)
}
