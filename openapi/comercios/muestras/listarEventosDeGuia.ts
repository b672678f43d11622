import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

for await (const evento of api.guias.eventos('7K3M9QX2A1B4')) {
  console.log(evento.secuencia, evento.tipo, evento.descripcion)
}
