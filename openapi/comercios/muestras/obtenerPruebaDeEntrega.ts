import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const prueba = await api.guias.pruebaEntrega('7K3M9QX2A1B4')
console.log(prueba.recibido_por?.nombre, prueba.entregado_en)
for (const { url, vence_en } of prueba.fotos) console.log(url, vence_en) // se abre sin llave, hasta que vence
