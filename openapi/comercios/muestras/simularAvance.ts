import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

await api.simulador.avanzar('7K3M9QX2A1B4', { estado: 'recolectado' })
await api.simulador.avanzar('7K3M9QX2A1B4', { estado: 'en_ruta' })
const guia = await api.simulador.avanzar('7K3M9QX2A1B4', { estado: 'entregado' })
console.log(guia.estado)
