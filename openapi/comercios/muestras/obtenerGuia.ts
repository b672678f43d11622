import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const guia = await api.guias.obtener('7K3M9QX2A1B4')
console.log(guia.estado, guia.ubicacion.estado)
for (const evento of guia.eventos.datos) console.log(evento.ocurrido_en, evento.descripcion)
