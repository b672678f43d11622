import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { estado } = await api.guias.cancelar('7K3M9QX2A1B4', { razon: 'El cliente canceló el pedido' })
console.log(estado) // cancelado
