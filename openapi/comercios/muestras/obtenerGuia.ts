import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const guia = await api.guias.obtener('7K3M9QX2A1B4')
console.log(guia.estado, guia.ubicacion.estado)
for (const evento of guia.eventos.datos) console.log(evento.ocurrido_en, evento.descripcion)
