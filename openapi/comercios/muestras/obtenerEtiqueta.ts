import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { url } = await api.guias.etiqueta('7K3M9QX2A1B4')
const pdf = await (await fetch(url)).arrayBuffer() // sin llave, hasta que el enlace vence
console.log(pdf.byteLength)
