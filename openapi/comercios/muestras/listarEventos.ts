import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

let cursor = '' // el que guardó la última vez; sin él, desde el principio (o `desde: 'ahora'`)
for await (const { datos, cursor_siguiente } of api.eventos.listar({ ...(cursor && { cursor }) }).paginas()) {
  for (const evento of datos) console.log(evento.guia, evento.tipo)
  cursor = cursor_siguiente ?? cursor // guárdelo después de atender los eventos
}
