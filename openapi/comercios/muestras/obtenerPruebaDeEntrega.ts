import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const prueba = await api.guias.pruebaEntrega('7K3M9QX2A1B4')
console.log(prueba.recibido_por?.nombre, prueba.entregado_en)
for (const { url, vence_en } of prueba.fotos) console.log(url, vence_en) // se abre sin llave, hasta que vence
