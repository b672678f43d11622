import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { decision } = await api.guias.reintentar('7K3M9QX2A1B4', { franja: { desde: '14:00', hasta: '18:00' } })
console.log(decision?.estado, decision?.accion) // tomada reintentar
