import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { resolucion } = await api.guias.reintentar('7K3M9QX2A1B4', { franja: { desde: '14:00', hasta: '18:00' } })
console.log(resolucion?.estado, resolucion?.accion) // tomada reintentar
